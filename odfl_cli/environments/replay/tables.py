"""A long table: which column is what, and some of its rows in memory."""

from typing import Any, Literal, NamedTuple

import numpy as np

from odfl_cli.core.settings import settings
from odfl_cli.core.text import did_you_mean
from odfl_cli.environments.replay.files import DataError

OnMissing = Literal["refuse", "skip", "mask", "last", "mean"]
SEED = "seed"
MOST_COLUMNS = 10_000
CELLS = 50_000
"""Cells read at once, which bounds the memory."""


class Chunk(NamedTuple):
    """Consecutive rows: their position in the file, their labels, and their numbers."""

    place: str  # what the file calls a row: line or row
    lines: list[int]
    rounds: list[str]
    items: list[str] | None
    groups: list[str] | None
    values: np.ndarray  # [rows, features + 1], the cost last

    def part(self, start: int, stop: int) -> "Chunk":
        """Rows start ≤ i < stop."""
        parts: list[Any] = [None if part is None else part[start:stop] for part in self[1:]]
        return Chunk(self.place, *parts)

    def append(self, later: "Chunk") -> "Chunk":
        """The rows of both."""
        pairs: Any = zip(self[1:-1], later[1:-1], strict=True)
        labels: list[Any] = [None if ours is None else ours + theirs for ours, theirs in pairs]
        return Chunk(self.place, *[*labels, np.concatenate([self.values, later.values])])

    def where(self, row: int) -> str:
        """As a user finds it in the file."""
        return f"{self.place} {self.lines[row]}"


@settings
class Columns:
    """Names of the columns. Without item the rows of a round are taken in order; without features, all others."""

    round: str = "round"
    item: str | None = "item"
    cost: str = "cost"
    features: tuple[str, ...] | None = None


class Layout(NamedTuple):
    """The columns of one file, checked to exist."""

    round: str
    item: str | None
    group: str | None
    numbers: tuple[str, ...]  # the features, then the cost


def layout(header: list[str], columns: Columns, group: str | None) -> Layout:
    """The columns found in the header, or the nearest name to the one that is missing.

    A column `seed`, as `odfl data export` writes it, is the group unless another is chosen.
    """
    _check_header(header)
    if group is None and SEED in header and SEED not in (columns.features or ()):
        group = SEED
    keys = {
        "data.columns.round": columns.round,
        "data.columns.item": columns.item,
        "data.columns.cost": columns.cost,
        "data.group": group,
    }
    features = columns.features or ()
    for key, name in (*keys.items(), *(("data.columns.features", name) for name in features)):
        if name is not None and name not in header:
            raise DataError(_unknown(key, name, header))
    if columns.features is None:
        features = tuple(name for name in header if name not in keys.values())
    if not features:
        raise DataError("no column is left for the features, see data.columns.features")
    if columns.cost in features:
        raise DataError(f"column {columns.cost} is the cost; as a feature it would be known ahead")
    return Layout(columns.round, columns.item, group, (*features, columns.cost))


def check_width(count: int) -> None:
    """Raises a DataError for more columns than a table of features can have."""
    if count > MOST_COLUMNS:
        raise DataError(f"more than {MOST_COLUMNS} columns in the first line; features are columns")


def _check_header(header: list[str]) -> None:
    check_width(len(header))
    for position, name in enumerate(header, start=1):
        if not name:
            raise DataError(f"line 1: column {position} has no name")
    if twice := next((name for name in header if header.count(name) > 1), None):
        raise DataError(f"line 1: two columns are named {twice}")


def _unknown(key: str, name: str, header: list[str]) -> str:
    without = "; without one: data.columns.item=null" if key == "data.columns.item" else ""
    return (
        f"{key}={name}: there is no such column; {did_you_mean(name, header, cutoff=0.5)}{without}"
    )
