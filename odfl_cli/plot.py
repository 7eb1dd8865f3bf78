"""`odfl plot`: finished runs as figures, with the numbers beside them."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import pandas as pd

from odfl_cli.aggregate import Line, curves, gaps, sweep, tabulate
from odfl_cli.errors import UserError
from odfl_cli.grouping import Group, group_runs
from odfl_cli.records_read import newest, read_runs
from odfl_cli.run_table import listing, summary_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from odfl_cli.figures import Frame

DESCRIPTION = """\
Draws finished runs: mean over seeds with a 95% interval, one colour per algorithm.

Without options it writes cost, mse, regret (against the rounds) and overview (cost and MSE side
by side); with --x one figure x_KEY, with --gap one figure gap. Each is a PNG, a PDF and a CSV with
its numbers; summary.csv has one row per run. Runs that differ in nothing but seeds are pooled."""

EXAMPLES = """\
examples:
  odfl plot                                              the newest run or sweep under outputs/
  odfl plot outputs/sweeps/main --out outputs/figures/main
  odfl plot outputs/sweeps/misspecification --x data.gamma
  odfl plot outputs/sweeps/misspecification --x data.gamma --gap pf_ogd:df_ogd
  odfl plot outputs/runs --list"""


class Sheet(NamedTuple):
    """A figure to be: its numbers, and how to draw them."""

    stem: str
    numbers: pd.DataFrame
    draw: "Callable[[Frame], Figure]"
    title: str


def main(argv: list[str]) -> int:
    """Reads the runs, writes the figures, prints their paths; returns the exit code."""
    arguments = _parser().parse_args(argv)
    if arguments.y and not (arguments.x or arguments.gap):
        raise UserError("--y needs --x or --gap: the curves show every column")
    runs = read_runs(arguments.directories or [newest(Path("outputs"))], _warn)
    if arguments.list:
        print(listing(runs))
        return 0
    sheets = _sheets(group_runs(runs), arguments)
    _write(sheets, summary_table(runs), arguments)
    return 0
