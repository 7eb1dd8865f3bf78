"""What is ranked: the jobs of a sweep that differ in nothing but their seeds, pooled."""

import difflib
from dataclasses import dataclass
from typing import Any

from odfl_cli.core.errors import UserError
from odfl_cli.core.text import Interval, interval
from odfl_cli.results.catalogue import Entry
from odfl_cli.results.grouping import differing_keys, frozen


@dataclass(frozen=True)
class Candidate:
    """Jobs that differ in nothing but their seeds."""

    entry: Entry
    differs: dict[str, Any]
    values: dict[int, float]  # by seed

    @property
    def figure(self) -> Interval:
        """Mean and interval."""
        return interval(self.values.values())

    def behind(self, winner: "Candidate") -> tuple[int, Interval] | None:
        """The seeds shared with the winner, and the mean difference to it over them."""
        shared = self.values.keys() & winner.values.keys()
        gaps = [self.values[seed] - winner.values[seed] for seed in sorted(shared)]
        return (len(gaps), interval(gaps)) if gaps else None


def rank(entries: list[Entry], column: str, largest: bool = False) -> list[Candidate]:
    """The candidates that have the column, best first."""
    keys = differing_keys(entries)
    pools: dict[Any, Candidate] = {}
    for entry in entries:
        differs = {key: entry.settings[key] for key in keys if key in entry.settings}
        identity = entry.algorithm, frozen(differs)
        pool = pools.setdefault(identity, Candidate(entry, differs, {}))
        pool.values.update(entry.final(column))
    candidates = [pool for pool in pools.values() if pool.values]
    return sorted(candidates, key=lambda pool: pool.figure["mean"], reverse=largest)


def check_column(entries: list[Entry], column: str) -> None:
    """Refuses a column that no run has, and names the nearest ones."""
    known = sorted({name for entry in entries for name in entry.columns})
    if column not in known:
        near = difflib.get_close_matches(column, known, n=2, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
        raise UserError(f"--by {column}: no run has such a column; {hint}")
