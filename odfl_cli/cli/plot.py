"""`odfl plot`: finished runs as figures, with the numbers beside them."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from odfl_cli.cli.list import print_runs
from odfl_cli.cli.parser import Parser, chosen
from odfl_cli.core.errors import UserError
from odfl_cli.core.text import printable, tell
from odfl_cli.results.finding import find_runs, newest
from odfl_cli.results.selection import OUTPUTS, Where

if TYPE_CHECKING:  # they bring pandas and seaborn, which --help and --list can do without
    from odfl_cli.plotting.figure_files import Sheet
    from odfl_cli.results.tables import Run

DESCRIPTION = """\
Draws finished runs: means over the seeds with 95% intervals, one colour per algorithm.

Without --x or --gap: cost, mse and regret against the rounds, and overview (cost and MSE side by
side); where the runs have them also expected_cost, comparators (static and dynamic regret), rates
(the same on logarithmic axes), path_length, margin and oracle_share. With --x: x_KEY. With --gap: gap. Each is a PNG, a PDF and a CSV with its numbers, and
summary.csv has one row per run. Runs that differ in nothing but their seeds are pooled."""

EXAMPLES = """\
  odfl plot                                      the newest run or sweep under outputs/
  odfl plot outputs/sweeps/main --out outputs/figures/main
  odfl plot outputs/runs --list
  odfl plot outputs/sweeps/misspecification --x data.gamma
  odfl plot outputs/sweeps/misspecification --x data.gamma --gap pf_ogd:df_ogd
  odfl plot outputs/sweeps/rates --x horizon.rounds --y avg_dynamic_regret --loglog
"""


def main(argv: list[str]) -> int:
    """Reads the runs, writes the figures, prints their paths; returns the exit code."""
    arguments = _parser().parse_args(argv)
    if arguments.y and not (arguments.x or arguments.gap):
        raise UserError("--y needs --x or --gap; without them every column has its figure")
    if arguments.loglog and (arguments.gap or not arguments.x):
        raise UserError("--loglog needs --x, and differences (--gap) have no logarithm")
    directories, where = chosen(arguments)
    directories = directories or [newest(OUTPUTS)]
    if arguments.list:
        print_runs(find_runs(directories, tell, where))
    else:
        _plot(directories, where, arguments)
    return 0


def _plot(directories: list[Path], where: Where, arguments: argparse.Namespace) -> None:
    from matplotlib import rc_context

    from odfl_cli.plotting.figure_files import make_directory, write_table
    from odfl_cli.plotting.style import theme
    from odfl_cli.results.tables import read_runs, summary_table

    runs = read_runs(directories, tell, where)
    out = arguments.out
    with rc_context(theme()):
        sheets = _sheets(runs, arguments)
        make_directory(out)
        paths = [path for sheet in sheets for path in sheet.write(out)]
    for path in (*paths, write_table(summary_table(runs), out, "summary")):
        print(printable(str(path)))


def _sheets(runs: "list[Run]", arguments: argparse.Namespace) -> "list[Sheet]":
    """The figures asked for; only runs that appear in them count for what differs."""
    from odfl_cli.plotting.figures import Frame
    from odfl_cli.plotting.sheets import curve_sheets, gap_sheet, sweep_sheet
    from odfl_cli.results.grouping import check_key, group_runs, runs_of, runs_with

    frame = Frame(arguments.title or "", arguments.size)
    key, column = arguments.x, arguments.y or "avg_cost"
    if arguments.gap:
        runs = runs_of(runs, arguments.gap)
        if key:
            check_key(runs, key)
        return [gap_sheet(group_runs(runs), arguments.gap, column, key, frame)]
    if key:
        groups = group_runs(runs_with(runs, key, tell))
        return [sweep_sheet(groups, key, column, frame, arguments.loglog)]
    return curve_sheets(group_runs(runs), frame)


def _parser() -> Parser:
    parser = Parser("plot", DESCRIPTION, EXAMPLES)
    add = parser.add_argument
    parser.add_runs("*", "the newest under outputs by default")
    add("--out", type=Path, default=Path("outputs/figures"), metavar="DIR",
        help="where the figures go (default: %(default)s)")  # fmt: skip
    add("--x", metavar="KEY", help="draw the final value against a swept key, such as data.gamma")
    add("--y", metavar="COLUMN",
        help="the column whose final value --x and --gap show (default: avg_cost)")  # fmt: skip
    add("--loglog", action="store_true",
        help="with --x: logarithmic axes, each algorithm with its slope, beside −1/4")  # fmt: skip
    add("--gap", type=_pair, metavar="A:B",
        help="draw the difference A − B of two algorithms, paired by seed, "
        "such as pf_ogd:df_ogd; with --x against the key")  # fmt: skip
    add("--list", action="store_true", help="show the runs that were found, and draw nothing")
    add("--title", metavar="TEXT", help="a line above K, T and the number of seeds")
    add("--size", choices=("single", "double"), default="double",
        help="one or two columns of a paper (default: %(default)s)")  # fmt: skip
    return parser


def _pair(text: str) -> tuple[str, str]:
    first, _, second = text.partition(":")
    if not first or not second or ":" in second or first == second:
        raise argparse.ArgumentTypeError(
            f"{text!r} should name two algorithms, such as pf_ogd:df_ogd"
        )
    return first, second
