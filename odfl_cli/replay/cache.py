"""Where files that can be made again are kept."""

import hashlib
import os
import tempfile
from functools import cache
from pathlib import Path


def cache_directory(kind: str) -> Path:
    """A folder in the user's cache, or of the user's own among the temporary files."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    fallback = Path(tempfile.gettempdir(), f"odfl-{os.getuid()}")
    for place in (Path(base, "odfl", kind), fallback / kind):
        try:
            place.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.TemporaryFile(dir=place):
                return place
        except OSError:
            continue
    raise OSError(f"neither {base} nor {fallback.parent} can be written")


@cache
def source_digest(module: str) -> str:
    """Changes with any source beside the module: what an older program made is made again."""
    sources = sorted(Path(module).parent.glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]
