"""`odfl best`: the jobs of a sweep in order of a column."""

import argparse
import json
from pathlib import Path

from odfl_cli.cli.parser import Parser, located
from odfl_cli.core.errors import UserError
from odfl_cli.core.statistics import Interval
from odfl_cli.core.text import assignments, plus_minus, printable, table, tell
from odfl_cli.results.finding import finished_runs
from odfl_cli.results.ranking import Ranked, league, rank

DESCRIPTION = """\
Ranks the finished jobs of a sweep by the final value of a column: mean over the seeds with its 95%
interval, and the paired difference to the winner over the seeds that both have. Jobs that differ in
nothing but their seeds are pooled. Ends with the command that repeats the winner. Several sweeps make one
Markdown table, an algorithm a row and a sweep a column, each with its best settings in it."""
EXAMPLES = """\
  odfl best outputs/sweeps/grid
  odfl best grid --by regret --top 5
  odfl best main high_dimension knapsack
"""
HEADINGS = ("rank", "algorithm", "differs in", "seeds", "mean", "behind the first")
DIFFERS_IN = HEADINGS.index("differs in")


def main(argv: list[str]) -> int:
    """Prints the ranking; returns the exit code."""
    parser = Parser("best", DESCRIPTION, EXAMPLES)
    parser.add_argument("sweeps", nargs="+", metavar="SWEEP", help="its directory, or its name")
    parser.add_argument("--by", metavar="COLUMN", default="avg_cost", help="avg_cost by default")
    parser.add_argument("--max", action="store_true", help="the largest is best, not the smallest")
    parser.add_argument("--top", type=_count, metavar="N", help="only the first N")
    parser.add_argument("--json", action="store_true", help="as JSON")
    arguments = parser.parse_args(argv)
    rankings = {name: _ranking(name, arguments) for name in arguments.sweeps}
    if len(rankings) > 1:
        if arguments.json:
            raise UserError("best: --json is for one sweep")
        print(league({Path(name).name: ranked for name, ranked in rankings.items()}))
        return 0
    (ranked,) = rankings.values()
    print(_json(ranked) if arguments.json else _text(ranked))
    return 0


def _ranking(sweep: str, arguments: argparse.Namespace) -> list[Ranked]:
    runs = finished_runs([located(sweep, "sweeps")], tell)
    return rank(runs, arguments.by, largest=arguments.max)[: arguments.top]


def _text(ranked: list[Ranked]) -> str:
    rows = [_row(place, one, ranked[0]) for place, one in enumerate(ranked, start=1)]
    again = printable(ranked[0].run.command)
    return f"{table([HEADINGS, *rows], elastic=DIFFERS_IN)}\n\n{again}"


def _row(place: int, one: Ranked, winner: Ranked) -> tuple[str, ...]:
    gap = one.behind(winner) if one is not winner else None
    return (
        str(place),
        one.run.algorithm,
        assignments(one.differs),
        str(len(one.values)),
        plus_minus(**one.figure),
        _behind(*gap) if gap else "-",
    )


def _behind(seeds: int, gap: Interval) -> str:
    sign = "+" if gap["mean"] >= 0 else ""
    return f"{sign}{plus_minus(**gap)} ({seeds} shared)"


def _json(ranked: list[Ranked]) -> str:
    rows = []
    for one in ranked:
        gap = one.behind(ranked[0])
        rows.append(
            {
                "algorithm": one.run.algorithm,
                "differs": one.differs,
                "seeds": sorted(one.values),
                **one.figure,
                "behind": {"seeds": gap[0], **gap[1]} if gap else None,
                "directory": str(one.run.directory),
                "command": one.run.command,
            }
        )
    return json.dumps(rows, indent=2)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise UserError(f"--top {text}: should be a whole number from 1")
    return int(text)
