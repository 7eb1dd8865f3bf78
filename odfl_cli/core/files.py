"""Files that appear whole or not at all."""

import json
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from odfl_cli.core.errors import UserError

UNFINISHED = ".part"
"""How the name of a file ends while it is written."""


@contextmanager
def atomic(path: Path, mode: str = "w") -> Iterator[IO[Any]]:
    """A new file (mode "w" or "wb") that takes its name only once it is complete on the disk."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}{UNFINISHED}")
    try:
        with open(temporary, mode.replace("w", "x"), newline=None if "b" in mode else "") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_json(path: Path, content: Any) -> None:
    """A JSON file, whole or not at all."""
    with atomic(path) as file:
        json.dump(content, file, indent=2)
        file.write("\n")


def remove_leftovers(directory: Path) -> None:
    """What a killed process had half written; only for who holds the directory's lock."""
    for leftover in directory.glob(f".*{UNFINISHED}"):
        leftover.unlink(missing_ok=True)


def make_writable(directory: Path) -> None:
    """Makes the directory, or refuses it before anything is computed."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise UserError(f"{directory}: cannot write there ({error.strerror})") from error
