"""Reads long tables: the roles of the columns, and the rows as labels and numbers."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from odfl_cli.core.settings import settings
from odfl_cli.core.text import did_you_mean
from odfl_cli.environments.replay.csv_file import check_width, open_csv
from odfl_cli.environments.replay.files import CELLS, DataError, Row
from odfl_cli.environments.replay.parquet_file import open_parquet

OnMissing = Literal["refuse", "skip", "mask", "last", "mean"]
SEED = "seed"
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-"})
"""Spellings of a missing value, in lower case."""
OPENERS = {".csv": open_csv, ".parquet": open_parquet}


@settings
class Columns:
    """Names of the columns. `item` null: the order of rows counts; `features` null: all other columns.

    Several columns of costs make a wide table: one row per round, one column of costs per item, and
    features that all items share.
    """

    round: str = "round"
    item: str | None = "item"
    cost: str | Annotated[tuple[str, ...], Field(min_length=2)] = "cost"
    features: tuple[str, ...] | None = None

    @property
    def costs(self) -> tuple[str, ...]:
        """The columns of costs: one, or several of a wide table."""
        return (self.cost,) if isinstance(self.cost, str) else self.cost


class Layout(NamedTuple):
    """The columns of one file, checked to exist."""

    round: str
    item: str | None
    group: str | None
    numbers: tuple[str, ...]  # the features, then the cost
    wide: tuple[str, ...] = ()  # the columns of costs of a wide table, in place of the last number

    @property
    def read(self) -> tuple[str, ...]:
        """The numeric columns of the file."""
        return (*self.numbers[:-1], *self.wide) if self.wide else self.numbers


class Rows(NamedTuple):
    """Consecutive rows."""

    where: np.ndarray  # [rows], as a user finds them in the file: "line 4"
    labels: np.ndarray  # [rows, 3], round, item and group as text; None without such a column
    values: np.ndarray  # [rows, features + 1], the cost last; NaN: missing

    def part(self, start: int, stop: int | None = None) -> "Rows":
        """Rows start ≤ i < stop."""
        return Rows(*(column[start:stop] for column in self))

    def take(self, order: list[int]) -> "Rows":
        """The rows in that order."""
        return Rows(*(column[order] for column in self))

    def append(self, later: "Rows") -> "Rows":
        """The rows of both."""
        return Rows(*(np.concatenate(both) for both in zip(self, later, strict=True)))


def read_layout(path: Path, columns: Columns, group: str | None) -> Layout:
    """The columns found in the file; a DataError names the nearest to a missing one."""
    with OPENERS[path.suffix.lower()](path) as (header, _):
        return layout(header, columns, group)


def read_rows(path: Path, chosen: Layout) -> Iterator[Rows]:
    """All rows, checked for their number of cells and converted to numbers."""
    with OPENERS[path.suffix.lower()](path) as (header, rows):
        position = {name: place for place, name in enumerate(header)}
        while block := list(islice(rows, max(1, CELLS // len(header)))):
            yield _convert(block, position, chosen)


def layout(header: list[str], columns: Columns, group: str | None) -> Layout:
    """The columns found in the header; a column `seed`, as in exports, is the default group."""
    check_width(len(header))
    if "" in header:
        raise DataError(f"line 1: column {header.index('') + 1} has no name")
    if twice := next((name for name in header if header.count(name) > 1), None):
        raise DataError(f"line 1: two columns are named {twice}")
    if group is None and SEED in header and SEED not in (columns.features or ()):
        group = SEED
    costs = columns.costs
    item = columns.item if len(costs) == 1 else None
    features = columns.features or ()
    keys = [
        ("data.columns.round", columns.round),
        ("data.columns.item", item),
        *(("data.columns.cost", name) for name in costs),
        ("data.group", group),
    ]
    for key, name in (*keys, *(("data.columns.features", name) for name in features)):
        if name is not None and name not in header:
            without = "; without one: data.columns.item=null" if key == "data.columns.item" else ""
            near = did_you_mean(name, header, cutoff=0.5)
            raise DataError(f"{key}={name}: there is no such column; {near}{without}")
    if columns.features is None:
        labels = [name for _, name in keys]
        features = tuple(name for name in header if name not in labels)
    if not features:
        raise DataError("no column is left for the features, see data.columns.features")
    if known := next((name for name in costs if name in features), None):
        raise DataError(f"column {known} is the cost; as a feature it would be known ahead")
    last = costs[0] if len(costs) == 1 else "cost"
    wide = costs if len(costs) > 1 else ()
    return Layout(columns.round, item, group, (*features, last), wide)


def _convert(block: list[Row], position: dict[str, int], chosen: Layout) -> Rows:
    for where, cells in block:
        if len(cells) != len(position):
            raise DataError(f"{where}: {len(cells)} cells under {len(position)} columns")
    table = np.array([cells for _, cells in block], dtype=object)
    places = np.array([where for where, _ in block])
    labels = np.full((len(block), 3), None, dtype=object)
    for place, name in enumerate(chosen[:3]):
        if name is not None:
            found = table[:, position[name]]
            labels[:, place] = ["" if cell is None else str(cell).strip() for cell in found]
    numbers = table[:, [position[name] for name in chosen.read]]
    try:
        values = numbers.astype(np.float64)  # None becomes NaN
    except (TypeError, ValueError):
        values = np.empty(numbers.shape)
        for i, j in np.ndindex(values.shape):
            values[i, j] = _number(numbers[i, j], f"{places[i]}, column {chosen.read[j]}")
    if items := len(chosen.wide):  # as the rows of a long table
        costs = values[:, -items:].reshape(-1, 1)
        values = np.column_stack([np.repeat(values[:, :-items], items, axis=0), costs])
        places, labels = (np.repeat(column, items, axis=0) for column in (places, labels))
    return Rows(places, labels, values)


def _number(cell: Any, where: str) -> float:
    """The cell as a float; NaN if it is missing."""
    if str(cell).strip().lower() in MISSING:
        return np.nan
    try:
        return float(cell)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{where}: {str(cell)!r} is not a number; data.columns.features lists the "
            "columns of numbers, data.group is one of names"
        ) from error
