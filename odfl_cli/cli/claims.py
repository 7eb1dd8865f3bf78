"""`odfl claims`: runs what is missing, measures, and prints one table of verdicts."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from odfl_cli.cli.parser import Parser
from odfl_cli.core.errors import UserError
from odfl_cli.results.selection import OUTPUTS

if TYPE_CHECKING:  # they bring pandas and Hydra, which --help can do without
    from odfl_cli.claims.table import Row

DESCRIPTION = """\
Measures every empirical claim of the paper and every statement that can be tested, and says of
each whether it holds, does not hold, or cannot be told at this sample size. Runs what is missing
under --outputs (minutes the first time), finds finished runs again."""


def main(arguments: list[str]) -> int:
    """Prints the table, or JSON; returns the exit code."""
    options = _parser().parse_args(arguments)
    from odfl_cli.claims.table import as_json, as_markdown

    rows = [*_comparison_rows(options), *_statement_rows(options)]
    if not rows:
        raise UserError(f"--only {options.only}: no claim's name holds it; {_known_names()}")
    print(as_json(rows) if options.json else as_markdown(rows))
    return 0


def _known_names() -> str:
    from odfl_cli.claims.comparisons import comparisons
    from odfl_cli.claims.statements import statements

    names = [one.name for one in comparisons()] + [one.name for one in statements()]
    return f"there are {', '.join(names)}"


def _comparison_rows(options: argparse.Namespace) -> "list[Row]":
    from odfl_cli.claims.comparisons import SWEEPS, comparisons
    from odfl_cli.claims.evidence import collect
    from odfl_cli.claims.table import Row

    wanted = [claim for claim in comparisons() if options.only in claim.name]
    rows = []
    for name, sweep in SWEEPS.items():
        claims = [claim for claim in wanted if claim.sweep == name]
        if claims:
            groups = collect(sweep, options.outputs, options.share)
            rows += [
                Row(one.name, one.text, one.where, one.measure(groups), one.rule) for one in claims
            ]
    return rows


def _statement_rows(options: argparse.Namespace) -> "list[Row]":
    from odfl_cli.claims.statements import statements
    from odfl_cli.claims.table import Row

    size = max(64, round(options.share * 4096))
    return [
        Row(one.name, one.text, one.where, one.measure(size), one.rule)
        for one in statements()
        if options.only in one.name
    ]


def _parser() -> Parser:
    parser = Parser("claims", DESCRIPTION, "  odfl claims --only high_dimension --json\n")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="claims whose name holds TEXT, such as main/"
    )
    parser.add_argument(
        "--share", type=_share, default=1.0, metavar="X",
        help="scale the number of seeds and samples (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--outputs", type=Path, default=OUTPUTS, metavar="DIR",
        help="where runs are kept (default: %(default)s)",
    )  # fmt: skip
    return parser


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1000:
        raise argparse.ArgumentTypeError(f"{text!r} should be a number above 0")
    return share
