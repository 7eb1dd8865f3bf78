"""`odfl plot`: finished runs as figures, with the numbers beside them."""

import argparse
from collections.abc import Iterable
from pathlib import Path

from odfl_cli.cli.list import print_runs
from odfl_cli.cli.parser import Parser, read_selection
from odfl_cli.core.errors import FAILED, UserError, report
from odfl_cli.core.text import did_you_mean, printable, tell
from odfl_cli.plotting.figure_files import Sheet, write_sheets
from odfl_cli.plotting.request import CURVES, FORMATS, OTHERS, WIDTHS, Request
from odfl_cli.results.finding import OUTPUTS, newest, sections
from odfl_cli.results.gaps import Gap
from odfl_cli.results.runs import StoredRun

DESCRIPTION = """\
Draws finished runs: means over the seeds with 95% intervals, one colour per algorithm.

By default it draws overview (cost and MSE against the rounds, a panel for each of up to four
numbers that were swept; x_KEY if there are more), forest (paired differences to a baseline) and, if
the runs have them, expected_cost, comparators (static and dynamic regret) and rates (the same on
logarithmic axes). --figures chooses among these and cost, mse, regret and path_length.
--y draws those columns alone. --x draws x_KEY, or a heatmap over two keys. --gap draws gap, and
without --x also gap_rounds. Each figure is a PNG, a PDF and a CSV with its numbers; summary.csv has
one row per run. Every sweep has its own folder, outputs/figures/SWEEP. Runs that differ only in
their seeds are pooled. A file that odfl did not write is replaced only with --force."""

EXAMPLES = """\
  odfl plot                                      the newest run or sweep under outputs/
  odfl plot main drift --where algo=df_ogd,pf_ogd
  odfl plot main drift --panels                  one figure, a panel for each
  odfl plot misspecification --col data.gamma --y avg_cost,avg_mse
  odfl plot main --forest pf_ogd
  odfl plot main --y avg_mse --each-seed --out mse.pdf --width 3.4 --title ""
  odfl plot outputs/sweeps/misspecification --x data.gamma
  odfl plot outputs/sweeps/misspecification --x data.gamma --gap pf_ogd:df_ogd
  odfl plot misspecification --gap data.gamma=1:0
  odfl plot outputs/sweeps/rates --x horizon.rounds --y avg_dynamic_regret --loglog
"""
LONGEST = 100  # the most characters of a folder's name
OTHER_FORMATS = ("jpg", "jpeg", "gif", "tif", "tiff", "eps", "ps", "webp", "bmp", "svgz")


def main(argv: list[str]) -> int:
    """Finds the runs, writes the figures, prints their paths; returns the exit code."""
    arguments = _parser().parse_args(argv)
    request = _request(arguments)
    paths, where = read_selection(arguments)
    paths = paths or [newest(OUTPUTS)]
    found = sections(paths, tell, where)
    if not found:
        named = ", ".join(map(str, paths))
        raise UserError(f"nothing to plot in {named}: no directory there holds a run")
    every = [run for runs in found.values() for run in runs]
    there = sorted({run.algorithm for run in every})
    for name in set(request.labels).difference(there):
        raise UserError(f"--label {name}: no run of this algorithm; {did_you_mean(name, there)}")
    if arguments.list:
        print_runs(every)
        return 0
    if arguments.pool:
        found = {_join_names(found): every}
    out, stem = _target(arguments.out, len(found) > 1 and not request.panels)
    parts = [found] if request.panels else [{name: runs} for name, runs in found.items()]
    for number, part in enumerate(parts):
        place = out if stem else out / _join_names(part)
        try:
            _draw(part, place, stem, request, arguments.force)
        except UserError as error:
            if number == 0:
                raise
            return report(error, FAILED)  # figures of other sweeps are written already
    return 0


def _join_names(names: Iterable[str]) -> str:
    """The name of the folder of several sweeps."""
    return "+".join(names)[:LONGEST]


def _draw(
    found: dict[str, list[StoredRun]], out: Path, stem: str | None, request: Request, force: bool
) -> None:
    """Writes the figures of runs into a folder and prints their names."""
    from matplotlib import rc_context

    from odfl_cli.plotting.result import Result
    from odfl_cli.plotting.sheets import sections_sheet, sheets
    from odfl_cli.results.tables import read_found

    runs = {name: read_found(stored, name, tell) for name, stored in found.items()}
    every = [run for section in runs.values() for run in section]
    summary = Result(every).summary.rename(columns={"algo": "algorithm"})
    summary["directory"] = [run.directory.name for run in every]
    with rc_context(request.rc()):
        if request.panels:
            drawn = [sections_sheet(runs, request)]
        else:
            drawn = sheets(next(iter(runs.values())), request)
        if stem:
            drawn = [_only(drawn)._replace(stem=stem)]
        else:
            drawn.append(Sheet("summary", None, summary))
        paths = write_sheets(drawn, out, request.formats, force)
    names = ", ".join(sheet.stem for sheet in drawn)
    print(printable(str(paths[0]) if stem else f"{out}: {names}"))


def _only(drawn: list[Sheet]) -> Sheet:
    """The figure for a single file: the overview if there is one, else the first."""
    return next((sheet for sheet in drawn if sheet.stem == "overview"), drawn[0])


def _target(out: Path, several: bool) -> tuple[Path, str | None]:
    """The folder, and for a single file its name without the ending."""
    if out.suffix[1:].lower() in OTHER_FORMATS and not out.is_dir():
        raise UserError(f"--out {out}: figures are {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")
    if out.suffix[1:] not in FORMATS or out.is_dir():
        return out, None
    if several:
        raise UserError(f"--out {out}: there are several sweeps; name a folder, or add --panels")
    return out.parent, out.stem


def _request(arguments: argparse.Namespace) -> Request:
    """The options as a `Request`."""
    options = {key: value for key, value in vars(arguments).items() if key in Request.fields()}
    options["width"] = arguments.width or WIDTHS[arguments.size]
    options["labels"] = dict(arguments.label)
    options["facets"] = arguments.row or "", arguments.col or ""
    if arguments.out.suffix[1:] in FORMATS and not arguments.out.is_dir():
        options["formats"] = (arguments.out.suffix[1:],)
    return Request(**options)


def _words(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.split(",")))


def _parser() -> Parser:
    parser = Parser("plot", DESCRIPTION, EXAMPLES)
    add = parser.add_argument
    parser.add_runs("*", "the newest under outputs by default")
    add("--out", type=Path, default=Path("outputs/figures"), metavar="DIR|FILE",
        help="a folder, in which every sweep has its own, or one file: x.pdf, x.png or x.svg "
        "(default: %(default)s)")  # fmt: skip
    add("--figures", nargs="+", action="extend", default=[], metavar="NAME",
        help=f"which figures to draw: {', '.join((*CURVES, *OTHERS))}")  # fmt: skip
    add("--forest", nargs="?", const="", metavar="ALGO",
        help="paired differences of all algorithms to one, a panel for each problem")  # fmt: skip
    add("--row", metavar="KEY", help="a row of panels for each value of a key")
    add("--col", metavar="KEY", help="a column of panels for each value of a key")
    add("--x", type=_words, default=(), metavar="KEY[,KEY]",
        help="draw the final value against a swept key, such as data.gamma; two make a heatmap")  # fmt: skip
    add("--y", type=_words, default=(), metavar="COLUMN[,COLUMN]",
        help="the columns to draw (default: avg_cost, or all)")  # fmt: skip
    add("--loglog", action="store_true",
        help="with --x: logarithmic axes, each algorithm with its slope, beside −1/4")  # fmt: skip
    add("--gap", type=Gap.parse, metavar="A:B|KEY=A:B",
        help="draw the difference A − B of two algorithms, or of two values of a key, paired by "
        "seed, such as pf_ogd:df_ogd or data.gamma=1:0; with --x against the key")  # fmt: skip
    add("--each-seed", action="store_true", help="thin lines for seeds instead of the interval")
    add("--panels", action="store_true", help="one figure with a panel for each sweep")
    add("--pool", action="store_true", help="everything on the same axes, as if it were one sweep")
    add("--force", action="store_true", help="replace pictures and tables that odfl did not write")
    add("--list", action="store_true", help="show the runs that were found, and draw nothing")
    add("--title", metavar="TEXT", help='a line above K, T and the number of seeds; "" for nothing')
    add("--label", type=_parse_label, action="append", default=[], metavar="ALGO=TEXT",
        help="what an algorithm is called in legends, such as mine='My method'")  # fmt: skip
    add("--size", choices=sorted(WIDTHS), default="double",
        help="one or two columns of a paper (default: %(default)s)")  # fmt: skip
    add("--width", type=float, metavar="INCHES", help="the width in inches, instead of --size")
    add("--format", nargs="+", choices=FORMATS, default=("png", "pdf"), dest="formats",
        help="the formats of the figures (default: png pdf)")  # fmt: skip
    add("--style", metavar="NAME|FILE",
        help="a style of matplotlib, on top of your matplotlibrc")  # fmt: skip
    return parser


def _parse_label(text: str) -> tuple[str, str]:
    name, _, words = text.partition("=")
    if not name or not words:
        raise UserError(f"--label {text}: should be ALGORITHM=TEXT, as in mine='My method'")
    return name, words
