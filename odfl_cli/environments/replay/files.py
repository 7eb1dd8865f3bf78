"""Files of rounds: errors in them, changes while they are read, and where derived files are cached."""

import atexit
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TypeVar

from odfl_cli.core.errors import UserError
from odfl_cli.core.files import make_private, user_cache

Part = TypeVar("Part")


class DataError(ValueError):
    """A file has wrong content; `naming_the_file` adds its name."""


@contextmanager
def naming_the_file(path: Path) -> Iterator[None]:
    """Turns errors into a UserError of one line that begins with the file's name."""
    try:
        yield
    except DataError as error:
        raise UserError(f"{path}: {error}") from error
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror or error})") from error


def stamp(path: Path) -> tuple[int, int, int, int]:
    """Changes whenever the file does: its length, two times and its inode."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def watched(path: Path, parts: Iterator[Part]) -> Iterator[Part]:
    """The parts as they are read; a DataError if the file changes meanwhile."""
    before = stamp(path)
    changed = DataError("the file changed while it was read; start again when it is complete")
    try:
        for part in parts:
            if stamp(path) != before:
                raise changed
            yield part
    except DataError as error:  # half a line at the end of a file that is still being written
        if stamp(path) != before:
            raise changed from error
        raise
    if stamp(path) != before:
        raise changed


def cache_directory(kind: str) -> Path:
    """A folder in the user's cache that is closed to others; else a temporary one of this process."""
    base = user_cache()
    place = base and base / "odfl" / kind
    return place if place and make_private(place) else _process_directory(kind)


@cache
def _process_directory(kind: str) -> Path:
    """A temporary folder that goes with this process."""
    place = tempfile.mkdtemp(prefix=f"odfl-{kind}-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return Path(place)


@cache
def source_digest(module: str) -> str:
    """Changes with any source in the module's folder, so that files of older versions are rebuilt."""
    sources = sorted(Path(module).parent.glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]
