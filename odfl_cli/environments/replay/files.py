"""Files of rounds: errors, changes while they are read, and the cache of derived files."""

import atexit
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from errno import ENOSPC
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from odfl_cli.core.bar import progress_bar
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import make_private, user_cache

CELLS = 50_000  # the number of cells read at once, which limits memory
Part = TypeVar("Part", bound=Any)
Row = tuple[str, Sequence[Any]]
"""The place of a row in its file, such as "line 4", and its cells."""
Opened = tuple[list[str], Iterator[Row]]  # the names of a table's columns, and its rows


class DataError(ValueError):
    """A file has invalid content; `name_file_in_errors` adds its name."""


@contextmanager
def name_file_in_errors(path: Path) -> Iterator[None]:
    """Turns errors into a UserError of one line that begins with the file's name."""
    try:
        yield
    except DataError as error:
        raise UserError(f"{path}: {error}") from error
    except OSError as error:
        what = f"prepared in {user_cache()}" if error.errno == ENOSPC else "read"
        raise UserError(f"{path}: cannot be {what} ({error.strerror or error})") from error


def stamp(path: Path) -> tuple[int, int, int, int]:
    """The length, two times and the inode of a file, which change with its content."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def watch_files(
    paths: Sequence[Path], parts: Iterator[Part], unit: str = "rounds"
) -> Iterator[Part]:
    """Yields the parts with a progress bar; raises a DataError if one of the files changes."""
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
    """A private folder in the user's cache, or else a temporary one of this process."""
    base = user_cache()
    place = base and base / "odfl" / kind
    return place if place and make_private(place) else _process_directory(kind)


@cache
def _process_directory(kind: str) -> Path:
    """A temporary folder, removed when this process ends."""
    place = tempfile.mkdtemp(prefix=f"odfl-{kind}-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return Path(place)


@cache
def source_digest(module: str) -> str:
    """A hash of the sources in the module's folder, so that files of older versions are rebuilt."""
    sources = sorted(Path(module).parent.glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]
