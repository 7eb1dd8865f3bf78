"""Statistics of every column, whether or not the file can be replayed."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from odfl_cli.environments.replay import csv_file, npz_file, parquet_file
from odfl_cli.environments.replay.files import naming_the_file, watched
from odfl_cli.environments.replay.recording import TABLES, check_file
from odfl_cli.environments.replay.tables import Columns, layout


@dataclass
class Column:
    """Statistics of one column of numbers; mean, smallest and largest are of the finite cells."""

    name: str
    missing: int = 0
    infinite: int = 0
    count: int = 0
    total: float = 0.0
    smallest: float = np.inf
    largest: float = -np.inf

    def add(self, values: np.ndarray) -> None:
        """Counts some more cells."""
        finite = values[np.isfinite(values)]
        self.missing += int(np.isnan(values).sum())
        self.infinite += int(np.isinf(values).sum())
        self.count += len(finite)
        self.total += float(finite.sum())
        self.smallest = float(finite.min(initial=self.smallest))
        self.largest = float(finite.max(initial=self.largest))

    @property
    def mean(self) -> float:
        """NaN without finite cells."""
        return self.total / self.count if self.count else np.nan

    @property
    def constant(self) -> bool:
        """Whether there is one value, or none."""
        return self.smallest >= self.largest


class Inspection(NamedTuple):
    """The statistics of a file."""

    columns: list[Column]
    rows: int


def preview(path: Path, rows: int) -> list[list[str]]:
    """The names of the columns and the first rows of a table as text; nothing of an NPZ file."""
    with naming_the_file(path):
        check_file(path)
        match path.suffix.lower():
            case ".csv":
                header = csv_file.header(path)
                with path.open(encoding="utf-8-sig", newline="", errors="replace") as file:
                    reader = csv.reader(file, delimiter=csv_file.delimiter(path))
                    return [header, *islice(reader, 1, rows + 1)]
            case ".parquet":
                return [parquet_file.header(path), *parquet_file.preview(path, rows)]
        return []


def inspect(path: Path, columns: Columns, group: str | None) -> Inspection:
    """Reads the whole file, a few rows at a time."""
    with naming_the_file(path):
        check_file(path)
        if path.suffix.lower() == ".npz":
            return _count([], npz_file.numbers(path), path)
        table = TABLES[path.suffix.lower()]
        names = layout(table.header(path), columns, group).numbers
        chunks = table.chunks(path, columns, group)
        return _count([Column(name) for name in names], (chunk.values for chunk in chunks), path)


def _count(columns: list[Column], parts: Iterator[np.ndarray], path: Path) -> Inspection:
    """The statistics of rows [rows, features + 1]; without columns, features are numbered."""
    rows = 0
    for values in watched(path, parts):
        if not columns:
            features = [f"X[…, {place}]" for place in range(values.shape[1] - 1)]
            columns = [Column(name) for name in (*features, "c")]
        rows += len(values)
        for column, cells in zip(columns, values.T, strict=True):
            column.add(cells)
    return Inspection(columns, rows)
