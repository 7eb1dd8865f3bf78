"""`odfl best`: the leaderboard of sweeps, as text or as a table for a paper."""

import csv
import json
import sys
from typing import Any

from odfl_cli.cli.parser import Parser, read_selection
from odfl_cli.core.errors import UserError
from odfl_cli.core.statistics import Interval
from odfl_cli.core.text import latex, markdown, plus_minus, printable, table, tell, two_digits
from odfl_cli.results import leaderboard
from odfl_cli.results.finding import join_refusals, keep_whole, locate, sections, try_each
from odfl_cli.results.grouping import Settings
from odfl_cli.results.leaderboard import Board, Entry, deciding_column, name_settings
from odfl_cli.results.verdicts import choices_in, verdicts_in
from odfl_cli.results.words import REFERENCES, column_words, display_name, to_unicode

DESCRIPTION = """\
Prints a leaderboard: algorithms in rows, problems in columns. Each cell is the final value of a
column, as a mean over the seeds with its 95% interval. The lowest learner of a problem is marked. A †
marks those that paired differences over shared seeds do not distinguish from it. References such as
uniform are below and are never marked. With one problem, every setting of an algorithm has a row;
with several, an algorithm shows its best setting in each (--rows algo).

--over rounds computes intervals over time, by a moving-block bootstrap. Use it for one long path, or
for seeds that share their time, such as stations."""
EXAMPLES = """\
  odfl best outputs/sweeps/grid
  odfl best grid --value avg_dynamic_regret --top 5 --where data.gamma=0.5
  odfl best misspecification --rows algo --cols data.gamma --gap pf_ogd --latex
  odfl best main high_dimension knapsack --markdown
  odfl best prices --over rounds
"""
OVER = {"seeds": leaderboard.SEEDS, "rounds": leaderboard.ROUNDS}
SHAPES = {
    "json": "as JSON",
    "latex": "as a table for LaTeX with booktabs",
    "csv": "as CSV, a line for every cell",
    "markdown": "as a table in Markdown",
}


def main(argv: list[str]) -> int:
    """Prints the leaderboard; returns the exit code."""
    arguments = _parser().parse_args(argv)
    located, refusals = try_each(arguments.runs, locate)
    for refusal in refusals if located else ():
        tell(f"left out: {refusal}")
    arguments.runs = list(located) or arguments.runs
    paths, where = read_selection(arguments)
    every = sections(paths, tell, where)
    sweeps, refusals = try_each(every, lambda name: keep_whole(every[name], name, tell))
    if not sweeps:
        none = UserError(f"no finished run in {', '.join(map(str, paths))}")
        raise join_refusals(refusals or [none])
    for refusal in refusals:
        tell(f"left out: {refusal}")
    column = arguments.value or deciding_column([run for runs in sweeps.values() for run in runs])
    found = leaderboard.board(
        sweeps, column, _split(arguments.rows), _split(arguments.cols), arguments.gap,
        arguments.max, OVER[arguments.over],
    )  # fmt: skip
    found = found._replace(rows=found.rows[: arguments.top])
    tried = {entry.run.algorithm: entry.tried for entry in _entries(found) if entry.tried > 1}
    if tried:
        words = ", ".join(f"{display_name(name)} ({count})" for name, count in tried.items())
        tell(f"a cell shows the best of several settings, chosen on these seeds: {words}")
    if arguments.json:
        print(json.dumps(list(map(_describe, _entries(found))), indent=2, default=str))
    elif arguments.csv:
        _print_csv(found)
    elif arguments.latex:
        rows = _rows(found, arguments.gap, "**{}**", formulas=True)
        print(latex(rows, apart=sum(map(_is_reference, found.rows))))
    elif arguments.markdown:
        print(markdown(_rows(found, arguments.gap, "**{}**")))
    else:
        _print(found, column, arguments.gap)
        for sentence in verdicts_in(paths):
            print(printable(f"verdict: {sentence}"))
        for sentence in choices_in(paths):
            print(printable(f"chosen: {sentence}"))
    return 0


def _parser() -> Parser:
    parser = Parser("best", DESCRIPTION, EXAMPLES)
    parser.add_runs("+", "several make one table")
    add = parser.add_argument
    add("--value", "--by", metavar="COLUMN",
        help="the column to rank by (default: avg_mean_cost if all runs have it, else avg_cost)")  # fmt: skip
    add("--rows", default="", metavar="KEY[,KEY]", help="algo by default")
    add("--cols", default="", metavar="KEY[,KEY]", help="the keys of the problem by default")
    add("--gap", default="", metavar="ALGO", help="show the paired difference to an algorithm")
    add("--max", action="store_true", help="the largest is best, not the smallest")
    add("--over", choices=OVER, default="seeds", help="what intervals are computed over")
    add("--top", type=_parse_count, metavar="N", help="only the first N rows")
    shape = parser.add_mutually_exclusive_group()
    for name, words in SHAPES.items():
        shape.add_argument(f"--{name}", action="store_true", help=words)
    return parser


def _print(found: Board, column: str, gap: str) -> None:
    """Prints the table with a caption and, for one problem, the command of the first row."""
    rows, words = _rows(found, gap, "{} *"), to_unicode(column_words(column))
    best, *_ = entries = _entries(found)
    single = len(found.columns) == 1
    if single:
        rows[0] = [rows[0][0], "seeds", words, "behind the best"]
        for row, entry in zip(rows[1:], entries, strict=True):
            row[1:] = [str(len(entry.values)), row[1], _behind(entry)]
    base = f" minus that of {display_name(gap)}" if gap else ""
    print(table(rows, elastic=0))
    print(f"\nFinal {words}{base}: mean ± 95% interval over {best.over.words}.", end=" ")
    print("* best learner, † not distinguishable from it (paired).")
    if best.over is leaderboard.SEEDS and all(one.figure["ci95"] is None for one in entries):
        print("One seed has no interval, so nothing is distinguished. Try --over rounds.")
    if single:
        print(f"To repeat the first:\n{printable(best.run.command)}")


def _rows(found: Board, gap: str, best: str, formulas: bool = False) -> list[list[str]]:
    """The heading and the rows as text; `best` is the format of the best learner's cell."""
    plain = str if formulas else to_unicode
    heading = [plain(name_settings(settings)) or "value" for settings in found.columns]
    rows = [["algorithm" if "algo" in found.rows[0] else "", *heading]]
    for settings in found.rows:
        apart = "" if formulas or not _is_reference(settings) else " (reference)"
        name = plain(name_settings({**settings, **found.best_settings(settings)}))
        rows.append([name + apart, *(_cell(entry, gap, best) for entry in found.row(settings))])
    return rows


def _is_reference(settings: Settings) -> bool:
    return settings.get("algo") in REFERENCES


def _cell(entry: Entry | None, gap: str, best: str) -> str:
    figure = entry and (entry.gap if gap else entry.figure)
    is_base = entry is not None and entry.run.algorithm == gap
    if entry is None or (figure is None and not is_base):
        return "–"
    shown = _plus_minus(figure, sign=bool(gap)) if figure else "0"
    return best.format(shown) if entry.is_best else f"{shown} †" if entry.is_tied else shown


def _plus_minus(figure: Interval, sign: bool = False) -> str:
    text = plus_minus(**figure, number=two_digits(figure["ci95"]))
    return f"+{text}" if sign and figure["mean"] > 0 else text


def _behind(entry: Entry) -> str:
    if entry.is_best or entry.behind is None:
        return "-"
    return f"{_plus_minus(entry.behind[1], sign=True)} ({entry.behind[0]} shared)"


def _entries(found: Board) -> list[Entry]:
    return [entry for row in found.rows for entry in found.row(row) if entry]


def _describe(entry: Entry) -> dict[str, Any]:
    return {
        "algorithm": entry.run.algorithm,
        "problem": entry.problem,
        "overrides": entry.run.overrides,
        "differs": {**entry.problem, **entry.hyperparameters},
        "tried": entry.tried,
        "seeds": sorted(entry.values),
        **entry.figure,
        "best": entry.is_best,
        "tied": entry.is_tied,
        "behind": {"seeds": entry.behind[0], **entry.behind[1]} if entry.behind else None,
        "gap": entry.gap,
        "directory": str(entry.run.directory),
        "command": entry.run.command,
    }


def _print_csv(found: Board) -> None:
    """Prints one line per cell: algorithm, settings, seeds, mean, ci95, the gap and the marks."""
    entries = _entries(found)
    keys = list(dict.fromkeys(key for entry in entries for key in entry.settings))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([*keys, "seeds", "mean", "ci95", "gap", "gap_ci95", "best", "tied"])
    for entry in entries:
        gap = entry.gap or {"mean": None, "ci95": None}
        numbers = [*entry.figure.values(), *gap.values()]
        shown = ["" if number is None else f"{number:.6g}" for number in numbers]
        settings = [_spell(entry.settings.get(key, "")) for key in keys]
        marks = int(entry.is_best), int(entry.is_tied)
        writer.writerow([*settings, len(entry.values), *shown, *marks])


def _spell(value: Any) -> Any:
    """A setting of a table: 1 also where 1.0 was typed, so that equal settings are equal as text."""
    return f"{value:.12g}" if isinstance(value, float) else value


def _split(keys: str) -> list[str]:
    return [key for key in keys.split(",") if key]


def _parse_count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise UserError(f"--top {text}: should be a whole number, 1 or more")
    return int(text)
