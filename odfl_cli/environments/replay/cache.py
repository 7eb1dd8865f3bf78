"""Where files that can be made again are kept."""

import atexit
import hashlib
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path


def cache_directory(kind: str) -> Path:
    """A folder in the user's cache; where that cannot be written, one for this process alone."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    place = Path(base, "odfl", kind)
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            return place
    except OSError:
        return _for_this_process(kind)


@cache
def _for_this_process(kind: str) -> Path:
    place = tempfile.mkdtemp(prefix=f"odfl-{kind}-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return Path(place)


@cache
def source_digest(module: str) -> str:
    """Changes with any source beside the module: what an older program made is made again."""
    sources = sorted(Path(module).parent.glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]
