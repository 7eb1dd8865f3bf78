"""What is wrong with a file, and a file that does not keep still."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from odfl_cli.core.errors import UserError

Part = TypeVar("Part")


class DataError(ValueError):
    """A reason to refuse a file; whoever opened it adds its name."""


@contextmanager
def naming_the_file(path: Path) -> Iterator[None]:
    """What is wrong with the file, in one line that begins with its name."""
    try:
        yield
    except DataError as error:
        raise UserError(f"{path}: {error}") from error
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror or error})") from error


def stamp(path: Path) -> tuple[int, int, int, int]:
    """Changes whenever the file does: its length, two times and its number on the disk."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def watched(path: Path, parts: Iterator[Part]) -> Iterator[Part]:
    """The parts as they are read, as long as the file stays what it was at the beginning."""
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
