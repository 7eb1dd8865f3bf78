"""The files of a run: one CSV per seed and a summary, whole or not at all."""

import csv
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from odfl_cli.errors import UserError

INTEGER_COLUMNS = frozenset({"t"})


def write_seed(directory: Path, seed: int, table: dict[str, np.ndarray], row: int) -> None:
    """seed-<seed>.csv from row `row` of every column [S, rows]; floats round-trip exactly.

    NaN says that a column has no value there: an empty cell.
    """
    columns = [
        values[row].astype(np.int64).tolist() if name in INTEGER_COLUMNS else _cells(values[row])
        for name, values in table.items()
    ]
    with atomic(directory / f"seed-{seed}.csv") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table)
        writer.writerows(zip(*columns, strict=True))


def _cells(values: np.ndarray) -> list[Any]:
    cells: list[Any] = values.tolist()
    return ["" if cell != cell else cell for cell in cells] if np.isnan(values).any() else cells


def write_json(path: Path, content: Any) -> None:
    """A JSON file, whole or not at all."""
    with atomic(path) as file:
        json.dump(content, file, indent=2)
        file.write("\n")


def make_writable(directory: Path) -> None:
    """Makes the directory, or refuses it before anything is computed."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise UserError(f"{directory}: cannot write there ({error.strerror})") from error


@contextmanager
def atomic(path: Path) -> Iterator[TextIO]:
    """A text file that appears under its name only once it is complete."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", newline="") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
