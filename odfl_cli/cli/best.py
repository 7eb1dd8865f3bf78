"""`odfl best`: the jobs of a sweep in order of a column."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from odfl_cli.cli.parser import Parser
from odfl_cli.core.errors import UserError
from odfl_cli.core.statistics import Interval
from odfl_cli.core.text import latex, markdown, plus_minus, printable, table, tell
from odfl_cli.plotting.words import COLUMNS
from odfl_cli.results.finding import finished_runs
from odfl_cli.results.paths import over_rounds, paths_of
from odfl_cli.results.ranking import SEEDS, Over, Ranked, distinguishing_words, league, rank
from odfl_cli.results.selection import Where, join_refusals, locate

DESCRIPTION = """\
Ranks the finished jobs of a sweep by the final value of a column: mean over the seeds with its 95%
interval, and the paired difference to the winner over the seeds that both have. Jobs that differ in
nothing but their seeds are pooled. Ends with the command that repeats the winner. Several sweeps
make one Markdown table, an algorithm a row and a sweep a column, each with its best settings in it;
a sweep that is not there is left out.

--over rounds is for one long path, or for seeds that share their time, such as stations: intervals
are those of a moving-block bootstrap over the rounds of the mean over the seeds."""
EXAMPLES = """\
  odfl best outputs/sweeps/grid
  odfl best grid --by avg_dynamic_regret --top 5 --where data.gamma=0.5
  odfl best main high_dimension knapsack --latex
  odfl best prices --over rounds
"""
OVER = {"seeds": SEEDS, "rounds": Over(paths_of, over_rounds)}
OVERRIDES = 2
"""The column that is folded where the terminal is narrow."""
READING = "Means ± 95% intervals; the last column is paired, over what both have. The first again:"


def main(argv: list[str]) -> int:
    """Prints the ranking; returns the exit code."""
    parser = Parser("best", DESCRIPTION, EXAMPLES)
    parser.add_runs("+", "several make one table")
    parser.add_argument("--by", metavar="COLUMN", default="avg_cost", help="avg_cost by default")
    parser.add_argument("--max", action="store_true", help="the largest is best, not the smallest")
    parser.add_argument("--over", choices=OVER, default="seeds", help="what intervals are over")
    parser.add_argument("--top", type=_count, metavar="N", help="only the first N")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="as JSON")
    shape.add_argument("--latex", action="store_true", help="as a table for LaTeX with booktabs")
    arguments = parser.parse_args(argv)
    if len(arguments.runs) > 1:
        if arguments.json:
            raise UserError("best: --json is for one sweep")
        rows = league(dict(_rankings(arguments)))
        print(latex(rows) if arguments.latex else markdown(rows))
        return 0
    ranked = _ranking(locate(arguments.runs[0]), arguments)
    if arguments.json:
        print(_json(ranked))
    elif arguments.latex:
        print(latex(_rows(ranked, arguments.by)))
    else:
        again = printable(ranked[0].run.command)
        shown = table(_rows(ranked, arguments.by), elastic=OVERRIDES)
        print(f"{shown}\n\n{READING}\n{again}")
    return 0


def _rankings(arguments: argparse.Namespace) -> Iterator[tuple[str, list[Ranked]]]:
    """Of every sweep with finished runs; what is left out is named; a UserError if all are."""
    refusals = []
    for name in arguments.runs:
        try:
            yield Path(name).name, _ranking(locate(name), arguments)
        except UserError as error:
            refusals.append(error)
    if len(refusals) == len(arguments.runs):
        raise join_refusals(refusals)
    for refusal in refusals:
        tell(f"left out: {refusal}")


def _ranking(place: Path, arguments: argparse.Namespace) -> list[Ranked]:
    runs = finished_runs([place], tell, Where.parse(arguments.where))
    return rank(runs, arguments.by, arguments.max, OVER[arguments.over])[: arguments.top]


def _rows(ranked: list[Ranked], by: str) -> list[tuple[str, ...]]:
    """The heading, which names the column of the ranking in words, and a row for each."""
    column = COLUMNS[by][0] if by in COLUMNS else by
    rows: list[tuple[str, ...]] = [
        ("rank", "algorithm", "overrides", "seeds", column, "behind the first")
    ]
    for place, (one, words) in enumerate(
        zip(ranked, distinguishing_words(ranked), strict=True), start=1
    ):
        gap = one.behind(ranked[0]) if place > 1 else None
        seeds, figure = str(len(one.values)), plus_minus(**one.figure)
        behind = _behind(*gap) if gap else "-"
        rows.append((str(place), one.run.algorithm, words, seeds, figure, behind))
    return rows


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
                "overrides": one.run.overrides,
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
