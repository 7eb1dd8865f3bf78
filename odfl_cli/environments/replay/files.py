"""Files of rounds: errors in them, changes while they are read, and where derived files are cached."""

import atexit
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from odfl_cli.core.bar import progress_bar
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import make_private, user_cache

CELLS = 50_000
"""Cells read at once, which bounds the memory."""
Part = TypeVar("Part", bound=Any)
Row = tuple[str, Sequence[Any]]
"""Where a row is in its file, such as "line 4", and its cells."""
Opened = tuple[list[str], Iterator[Row]]
"""The names of a table's columns, and its rows."""


class DataError(ValueError):
    """A file has wrong content; `name_file_in_errors` adds its name."""


@contextmanager
def name_file_in_errors(path: Path) -> Iterator[None]:
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


def watch_files(
    paths: Sequence[Path], parts: Iterator[Part], unit: str = "rounds"
) -> Iterator[Part]:
    """The parts as they are read, with a bar; a DataError if one of the files changes meanwhile."""
    before, count = [stamp(path) for path in paths], 0

    def check() -> None:
        if [stamp(path) for path in paths] != before:
            raise DataError("the file changed while it was read; start again when it is complete")

    try:
        with progress_bar(f"reading {paths[0].name}", None, unit=unit) as advance:
            for part in parts:
                check()
                count += len(getattr(part, "values", part))
                advance(count)
                yield part
    except DataError:  # half a line at the end of a file that is still being written
        check()
        raise
    check()


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
