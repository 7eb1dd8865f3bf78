"""`odfl best`: the jobs of a sweep in order of a column."""

import difflib
import json
from dataclasses import dataclass
from typing import Any

from odfl_cli.errors import UserError
from odfl_cli.housekeeping.catalogue import Entry, finished
from odfl_cli.housekeeping.command_line import Parser, located, warn
from odfl_cli.housekeeping.reproduce import command
from odfl_cli.housekeeping.text import Interval, interval, plus_minus, table, told
from odfl_cli.plotting.grouping import differing_keys, frozen

DESCRIPTION = """\
Ranks the finished jobs of a sweep by the final value of a column: mean over the seeds with its 95%
interval, and the paired difference to the winner over the seeds that both have. Jobs that differ in
nothing but their seeds are pooled. Ends with the command that repeats the winner."""
EXAMPLES = """\
  odfl best outputs/sweeps/grid
  odfl best grid --by regret --top 5
"""
HEADINGS = ("rank", "algorithm", "differs in", "seeds", "mean", "behind the first")
DIFFERS_IN = HEADINGS.index("differs in")


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


def main(argv: list[str]) -> int:
    """Prints the ranking; returns the exit code."""
    parser = Parser("best", DESCRIPTION, EXAMPLES)
    parser.add_argument("sweep", metavar="SWEEP", help="its directory, or its name")
    parser.add_argument("--by", metavar="COLUMN", default="avg_cost", help="avg_cost by default")
    parser.add_argument("--max", action="store_true", help="the largest is best, not the smallest")
    parser.add_argument("--top", type=_count, metavar="N", help="only the first N")
    parser.add_argument("--json", action="store_true", help="as JSON")
    arguments = parser.parse_args(argv)
    entries = finished([located(arguments.sweep, "sweeps")], warn)
    check_column(entries, arguments.by)
    ranked = rank(entries, arguments.by, largest=arguments.max)[: arguments.top]
    print(_json(ranked) if arguments.json else _text(ranked))
    return 0


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


def _text(ranked: list[Candidate]) -> str:
    rows = [_row(place, one, ranked[0]) for place, one in enumerate(ranked, start=1)]
    return f"{table([HEADINGS, *rows], elastic=DIFFERS_IN)}\n\n{command(ranked[0].entry)}"


def _row(place: int, one: Candidate, winner: Candidate) -> tuple[str, ...]:
    gap = one.behind(winner) if one is not winner else None
    return (
        str(place),
        one.entry.algorithm,
        told(one.differs),
        str(len(one.values)),
        plus_minus(**one.figure),
        f"{plus_minus(**gap[1], sign='+')} ({gap[0]} shared)" if gap else "-",
    )


def _json(ranked: list[Candidate]) -> str:
    rows = []
    for one in ranked:
        gap = one.behind(ranked[0])
        rows.append(
            {
                "algorithm": one.entry.algorithm,
                "differs": one.differs,
                "seeds": sorted(one.values),
                **one.figure,
                "behind": {"seeds": gap[0], **gap[1]} if gap else None,
                "directory": str(one.entry.directory),
                "command": command(one.entry),
            }
        )
    return json.dumps(rows, indent=2)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise UserError(f"--top {text}: should be a whole number from 1")
    return int(text)
