"""Statistics of every column, whether or not the file can be replayed."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from odfl_cli.environments.replay import csv_file, npz_file, parquet_file
from odfl_cli.environments.replay.files import naming_the_file, watched
from odfl_cli.environments.replay.recording import TABLES, check_file
from odfl_cli.environments.replay.tables import Columns, layout


@dataclass
class Column:
    """What one column of numbers holds."""

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
        """Over the finite cells."""
        return self.total / self.count if self.count else np.nan

    @property
    def constant(self) -> bool:
        """One value, or none."""
        return self.smallest >= self.largest


@dataclass
class Inspection:
    """The statistics of a file."""

    columns: list[Column] = field(default_factory=list)
    rows: int = 0


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
            return _counted(Inspection(), watched(path, npz_file.numbers(path)))
        table = TABLES[path.suffix.lower()]
        names = layout(table.header(path), columns, group).numbers
        values = (chunk.values for chunk in table.chunks(path, columns, group))
        return _counted(Inspection([Column(name) for name in names]), watched(path, values))


def _counted(found: Inspection, parts: Iterator[np.ndarray]) -> Inspection:
    for values in parts:
        if not found.columns:
            features = [f"X[…, {place}]" for place in range(values.shape[1] - 1)]
            found.columns = [Column(name) for name in (*features, "c")]
        found.rows += len(values)
        for column, cells in zip(found.columns, values.T, strict=True):
            column.add(cells)
    return found
