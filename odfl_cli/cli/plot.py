"""`odfl plot`: finished runs as figures, with the numbers beside them."""

import argparse
import hashlib
import json
import os
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from odfl_cli import __version__
from odfl_cli.cli.list import print_runs
from odfl_cli.cli.parser import Parser, read_selection
from odfl_cli.core.errors import FAILED, UserError, report
from odfl_cli.core.text import did_you_mean, printable, tell
from odfl_cli.plotting.figure_files import (
    Sheet,
    check_table,
    check_targets,
    drawn_before,
    make_directory,
    remember,
    write_sheets,
    write_table,
)
from odfl_cli.plotting.request import FORMATS, Request
from odfl_cli.plotting.style import WIDTHS
from odfl_cli.results.finding import newest
from odfl_cli.results.gaps import Gap
from odfl_cli.results.runs import StoredRun
from odfl_cli.results.sections import sections
from odfl_cli.results.selection import OUTPUTS

DESCRIPTION = """\
Draws finished runs: means over the seeds with 95% intervals, one colour per algorithm.

Without --x or --gap: cost, mse and regret against the rounds, and overview (cost and MSE side by
side); where the runs have them also expected_cost, comparators (static and dynamic regret), rates
(the same on logarithmic axes), bounds, path_length, margin and oracle_share; with --y that column
alone. With --x: x_KEY, or a heatmap over two keys. With --gap: gap, and gap_rounds without --x. Each
is a PNG, a PDF and a CSV with its numbers, and summary.csv has one row per run. Runs that differ in
nothing but their seeds are pooled. Several sweeps, or the experiments of a folder of runs, get a
folder of figures each. What was drawn before from the same runs is not drawn again; a file that odfl
did not write is replaced with --force alone."""

EXAMPLES = """\
  odfl plot                                      the newest run or sweep under outputs/
  odfl plot main drift --where algo=df_ogd,pf_ogd
  odfl plot main drift --panels                  one figure, a panel for each
  odfl plot main --y avg_mse --seeds --out mse.pdf --width 3.4 --title ""
  odfl plot outputs/sweeps/misspecification --x data.gamma
  odfl plot outputs/sweeps/misspecification --x data.gamma --gap pf_ogd:df_ogd
  odfl plot misspecification --gap data.gamma=1:0
  odfl plot outputs/sweeps/rates --x horizon.rounds --y avg_dynamic_regret --loglog
"""


def main(argv: list[str]) -> int:
    """Finds the runs, writes the figures, prints their paths; returns the exit code."""
    arguments = _parser().parse_args(argv)
    request = _request(arguments)
    paths, where = read_selection(arguments)
    found = sections(paths or [newest(OUTPUTS)], tell, where)
    _check_labels(request, [run.algorithm for runs in found.values() for run in runs])
    if arguments.list:
        print_runs([run for runs in found.values() for run in runs])
        return 0
    if arguments.pool:
        found = {"all": [run for runs in found.values() for run in runs]}
    out, stem = _target(arguments.out, len(found) > 1 and not request.panels)
    parts = [found] if request.panels else [{name: runs} for name, runs in found.items()]
    for number, part in enumerate(parts):
        place = out / next(iter(part)) if len(parts) > 1 else out
        try:
            _draw(part, place, stem, request, arguments.force)
        except UserError as error:
            if number == 0:
                raise
            return report(error, FAILED)  # figures of others are written
    return 0


def _check_labels(request: Request, algorithms: list[str]) -> None:
    """Refuses a label of an algorithm that no run has."""
    for name in request.labels:
        if name not in algorithms:
            there_are = did_you_mean(name, sorted(set(algorithms)))
            raise UserError(f"--label {name}: no run of this algorithm; {there_are}")


def _draw(
    found: dict[str, list[StoredRun]], out: Path, stem: str | None, request: Request, force: bool
) -> None:
    """Writes the figures of runs into a folder unless they are there, and says which."""
    stamp = _stamp(found, request, stem)
    paths = drawn_before(out, stamp)
    names, count = " and ".join(found), sum(map(len, found.values()))
    state = "unchanged" if paths else "drawn"
    if not paths:
        paths = _draw_anew(found, out, stem, request, force)
        remember(out, stamp, paths)
    tell(f"{state}: {count} {'run' if count == 1 else 'runs'} of {names} in {out}")
    for path in paths:
        print(printable(str(path)))


def _draw_anew(
    found: dict[str, list[StoredRun]], out: Path, stem: str | None, request: Request, force: bool
) -> list[Path]:
    from matplotlib import rc_context

    from odfl_cli.plotting.sheets import sections_sheet, sheets
    from odfl_cli.results.tables import read_found, summary_table

    runs = {name: read_found(stored, name, tell) for name, stored in found.items()}
    summary = summary_table([run for section in runs.values() for run in section])
    with rc_context(request.rc()):
        if request.panels:
            drawn = [sections_sheet(runs, request)]
        else:
            drawn = sheets(next(iter(runs.values())), request)
        if stem:
            drawn = [_only(drawn)._replace(stem=stem)]
        check_targets(drawn, out, request.formats, force)
        if not stem:
            check_table(summary, out, "summary", force)
        make_directory(out)
        paths = write_sheets(drawn, out, request.formats)
    return paths if stem else [*paths, write_table(summary, out, "summary")]


def _only(drawn: list[Sheet]) -> Sheet:
    """The figure that a single file shows: of all curves the overview, of a gap its rows."""
    return next((sheet for sheet in drawn if sheet.stem == "overview"), drawn[0])


def _stamp(found: dict[str, list[StoredRun]], request: Request, stem: str | None) -> str:
    """A hash of all that figures depend on: runs, options, matplotlib's settings and the code."""
    digest = hashlib.sha256(json.dumps([asdict(request), stem, __version__]).encode())
    for name, runs in found.items():
        for run in runs:
            content = run.summary.content if run.summary else None
            facts = [name, str(run.directory), run.asked, sorted(run.damage), content]
            digest.update(json.dumps(facts, sort_keys=True).encode())
    home = os.environ.get("XDG_CONFIG_HOME", os.path.expanduser("~/.config"))
    own = [os.environ.get("MATPLOTLIBRC", ""), "matplotlibrc", f"{home}/matplotlib/matplotlibrc"]
    package = Path(__file__).resolve().parents[1]
    code = [*package.glob("plotting/*.py"), *package.glob("results/*.py")]
    for path in (*map(Path, own), Path(request.style or ""), *sorted(code)):
        if path.is_file():
            digest.update(path.read_bytes())
    digest.update(version("matplotlib").encode())
    return digest.hexdigest()


def _target(out: Path, several: bool) -> tuple[Path, str | None]:
    """The folder, and of a single file its name without the ending."""
    if out.suffix[1:] not in FORMATS or out.is_dir():
        return out, None
    if several:
        raise UserError(f"--out {out}: there are several sweeps; name a folder, or add --panels")
    return out.parent, out.stem


def _request(arguments: argparse.Namespace) -> Request:
    formats: tuple[str, ...] = tuple(arguments.format or ("png", "pdf"))
    ending = arguments.out.suffix[1:]
    return Request(
        x=tuple(filter(None, (arguments.x or "").split(","))),
        y=arguments.y,
        gap=arguments.gap,
        loglog=arguments.loglog,
        seeds=arguments.seeds,
        panels=arguments.panels,
        title=arguments.title,
        width=arguments.width or WIDTHS[arguments.size],
        formats=(ending,) if ending in FORMATS and not arguments.out.is_dir() else formats,
        style=arguments.style,
        labels=dict(arguments.label),
    )


def _parser() -> Parser:
    parser = Parser("plot", DESCRIPTION, EXAMPLES)
    add = parser.add_argument
    parser.add_runs("*", "the newest under outputs by default")
    add("--out", type=Path, default=Path("outputs/figures"), metavar="DIR|FILE",
        help="a folder, or one file: x.pdf, x.png or x.svg (default: %(default)s)")  # fmt: skip
    add("--x", metavar="KEY[,KEY]",
        help="draw the final value against a swept key, such as data.gamma; two make a heatmap")  # fmt: skip
    add("--y", metavar="COLUMN", help="the column to draw (default: avg_cost, or all)")
    add("--loglog", action="store_true",
        help="with --x: logarithmic axes, each algorithm with its slope, beside −1/4")  # fmt: skip
    add("--gap", type=Gap.parse, metavar="A:B|KEY=A:B",
        help="draw the difference A − B of two algorithms, or of two values of a key, paired by "
        "seed, such as pf_ogd:df_ogd or data.gamma=1:0; with --x against the key")  # fmt: skip
    add("--seeds", action="store_true", help="a thin line for every seed instead of the interval")
    add("--panels", action="store_true", help="one figure with a panel for each sweep")
    add("--pool", action="store_true", help="everything on the same axes, as if it were one sweep")
    add("--force", action="store_true", help="replace pictures and tables that are not of odfl")
    add("--list", action="store_true", help="show the runs that were found, and draw nothing")
    add("--title", metavar="TEXT", help='a line above K, T and the number of seeds; "" for nothing')
    add("--label", type=_pair, action="append", default=[], metavar="ALGO=TEXT",
        help="what an algorithm is called in legends, such as mine='My method'")  # fmt: skip
    add("--size", choices=sorted(WIDTHS), default="double",
        help="one or two columns of a paper (default: %(default)s)")  # fmt: skip
    add("--width", type=float, metavar="INCHES", help="instead of --size")
    add("--format", nargs="+", choices=FORMATS, help="of the figures (default: png pdf)")
    add("--style", metavar="NAME|FILE",
        help="a style of matplotlib; your matplotlibrc counts anyway")  # fmt: skip
    return parser


def _pair(text: str) -> tuple[str, str]:
    name, _, words = text.partition("=")
    if not name or not words:
        raise UserError(f"--label {text}: should be ALGORITHM=TEXT, as in mine='My method'")
    return name, words
