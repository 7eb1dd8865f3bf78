"""Statistics of every column of a file, even if it cannot be replayed."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from odfl_cli.environments.replay import npz_file
from odfl_cli.environments.replay.files import name_file_in_errors, watch_files
from odfl_cli.environments.replay.recording import check_file
from odfl_cli.environments.replay.tables import OPENERS, Columns, read_layout, read_rows


class Inspection(NamedTuple):
    """Statistics of the numeric columns, one entry each; the last three are over finite cells."""

    names: Sequence[str]
    rows: int
    missing: np.ndarray
    infinite: np.ndarray
    smallest: np.ndarray
    mean: np.ndarray  # NaN without finite cells
    largest: np.ndarray


def preview(path: Path, rows: int) -> list[list[str]]:
    """The names of the columns and the first rows of a table as text; empty for an NPZ file."""
    with name_file_in_errors(path):
        check_file(path)
        if path.suffix.lower() not in OPENERS:
            return []
        with OPENERS[path.suffix.lower()](path) as (header, cells):
            return [header, *([str(cell) for cell in row] for _, row in islice(cells, rows))]


def inspect(path: Path, columns: Columns, group: str | None) -> Inspection:
    """Reads the whole file, a few rows at a time."""
    with name_file_in_errors(path):
        check_file(path)
        names, parts = _numbers(path, columns, group)
        rows, total = 0, np.zeros(len(names))
        missing, infinite, count = np.zeros((3, len(names)), dtype=int)
        smallest, largest = total + np.inf, total - np.inf
        for values in watch_files([path], parts, "rows"):
            finite = np.isfinite(values)
            rows += len(values)
            missing += np.isnan(values).sum(axis=0)
            infinite += np.isinf(values).sum(axis=0)
            count += finite.sum(axis=0)
            total += values.sum(axis=0, where=finite)
            smallest = np.minimum(smallest, values.min(axis=0, where=finite, initial=np.inf))
            largest = np.maximum(largest, values.max(axis=0, where=finite, initial=-np.inf))
        mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        return Inspection(names, rows, missing, infinite, smallest, mean, largest)


def _numbers(
    path: Path, columns: Columns, group: str | None
) -> tuple[Sequence[str], Iterator[np.ndarray]]:
    """The names of the numeric columns, and parts [rows, columns]; features of arrays are numbered."""
    if path.suffix.lower() in OPENERS:
        chosen = read_layout(path, columns, group)
        return chosen.numbers, (rows.values for rows in read_rows(path, chosen))
    parts = (values.reshape(-1, values.shape[-1]) for _, _, values in npz_file.blocks(path))
    first = next(parts)
    names = [*(f"X[…, {place}]" for place in range(first.shape[1] - 1)), "c"]
    return names, chain([first], parts)
