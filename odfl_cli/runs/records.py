"""The numbers of a run as files: one CSV per seed."""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np

from odfl_cli import __version__
from odfl_cli.core.files import atomic
from odfl_cli.results.summary import file_record, seed_file

INTEGER_COLUMNS = frozenset({"t"})


def write_seed(
    directory: Path, seed: int, table: dict[str, np.ndarray], row: int
) -> dict[str, Any]:
    """seed-<seed>.csv from row `row` of every column [S, rows]; floats round-trip exactly.

    NaN says that a column has no value there: an empty cell. Returns how summary.json remembers
    the file.
    """
    columns = [
        values[row].astype(np.int64).tolist() if name in INTEGER_COLUMNS else _cells(values[row])
        for name, values in table.items()
    ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*columns, strict=True))
    content = text.getvalue().encode()
    with atomic(directory / seed_file(seed), "wb") as file:
        file.write(content)
    return file_record(content, __version__)


def _cells(values: np.ndarray) -> list[Any]:
    cells: list[Any] = values.tolist()
    return ["" if cell != cell else cell for cell in cells] if np.isnan(values).any() else cells


def columns(directory: Path, seeds: list[int]) -> set[tuple[str, ...]]:
    """The headers of the seeds' files; one where they agree."""
    return {tuple(_first_and_last(directory, seed)[0]) for seed in seeds}


def last_rows(directory: Path, seeds: list[int]) -> dict[str, np.ndarray]:
    """Column → [S, 1]: the last round of every seed, as its CSV has it."""
    rows = [dict(zip(*_first_and_last(directory, seed), strict=True)) for seed in seeds]
    return {name: np.array([[float(row[name] or "nan")] for row in rows]) for name in rows[0]}


def _first_and_last(directory: Path, seed: int) -> tuple[list[str], list[str]]:
    header, *_, last = (directory / seed_file(seed)).read_text().splitlines()
    return header.split(","), last.split(",")
