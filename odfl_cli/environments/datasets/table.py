"""The long table of an example, and where it is kept."""

import csv
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from odfl_cli.config.identity import digest
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import atomic
from odfl_cli.environments.replay.files import cache_directory, source_digest, stamp


class Table(NamedTuple):
    """Rounds with their labels."""

    periods: list[str]  # [T]
    days: list[str]  # [T]
    items: list[str]  # [d]
    names: list[str]  # [p]
    X: np.ndarray  # [T, d, p]
    costs: np.ndarray  # [T, d]


def write(table: Table, path: Path) -> None:
    """period, day, item, features…, cost: a row per day and item; floats round-trip exactly."""
    with atomic(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["period", "day", "item", *table.names, "cost"])
        for t, (period, day) in enumerate(zip(table.periods, table.days, strict=True)):
            for item, x, cost in zip(
                table.items, table.X[t].tolist(), table.costs[t].tolist(), strict=True
            ):
                writer.writerow([period, day, item, *x, cost])


def kept(name: str, source: Path, build: Callable[[Path], Table]) -> str:
    """The table's file in the user's cache, written when source or program are new."""
    key = digest([source_digest(__file__), stamp(source)])
    path = cache_directory("examples") / f"{name}-{key}.csv"
    if not path.is_file():
        write(build(source), path)
    return str(path)


def packaged(package: str, inside: str) -> Path:
    """A file inside an installed package, which need not be imported."""
    found = importlib.util.find_spec(package)
    places = found.submodule_search_locations if found else None
    path = Path(next(iter(places or ["."])), inside)
    if not found or not path.is_file():
        raise UserError(f"the example's data come with {package}: pip install 'odfl[examples]'")
    return path
