"""Which column of a table is what."""

from typing import Literal, NamedTuple

from odfl_cli.core.settings import settings
from odfl_cli.core.text import did_you_mean
from odfl_cli.environments.replay.problems import DataError

OnMissing = Literal["refuse", "skip"]
MOST_COLUMNS = 10_000


@settings
class Columns:
    """Names of the columns; no item: the rows of a round in their order; no features: all others."""

    round: str = "round"
    item: str | None = "item"
    cost: str = "cost"
    features: tuple[str, ...] | None = None


class Layout(NamedTuple):
    """The columns of one file, all of them there."""

    round: str
    item: str | None
    group: str | None
    numbers: tuple[str, ...]  # the features, then the cost


def layout(header: list[str], columns: Columns, group: str | None) -> Layout:
    """The columns found in the header, or the nearest name to the one that is missing."""
    _check_header(header)
    keys = {
        "data.columns.round": columns.round,
        "data.columns.item": columns.item,
        "data.columns.cost": columns.cost,
        "data.group": group,
    }
    for key, name in keys.items():
        if name is not None and name not in header:
            raise DataError(_unknown(key, name, header))
    for name in columns.features or ():
        if name not in header:
            raise DataError(_unknown("data.columns.features", name, header))
    taken = set(keys.values())
    features = columns.features
    if features is None:
        features = tuple(name for name in header if name not in taken)
    if not features:
        raise DataError("no column is left for the features")
    if columns.cost in features:
        raise DataError(f"column {columns.cost} is the cost; as a feature it would be known ahead")
    return Layout(columns.round, columns.item, group, (*features, columns.cost))


def check_width(count: int) -> None:
    """Refuses a table that nobody meant to be one."""
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
