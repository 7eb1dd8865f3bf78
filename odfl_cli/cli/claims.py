"""`odfl claims`: runs what is missing, measures, and prints one table of verdicts."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odfl_cli.cli.parser import Parser
from odfl_cli.core.errors import UserError
from odfl_cli.results.selection import OUTPUTS

if TYPE_CHECKING:  # they bring pandas and Hydra, which --help can do without
    from odfl_cli.claims.claim import Claim, Row

DESCRIPTION = """\
Measures every empirical claim of the paper and every statement that can be tested, and says of
each whether it holds, does not hold, or cannot be told at this sample size. Every claim is measured
on controls too, such as players that learn nothing: one that holds for a control is without power.
Runs what is missing under --outputs (minutes the first time), finds finished runs again."""
EXAMPLES = """\
  odfl claims --list                       the names of all claims
  odfl claims --only high_dimension --json
"""


def main(arguments: list[str]) -> int:
    """Prints the table, or JSON; returns the exit code."""
    options = _parser().parse_args(arguments)
    from odfl_cli.claims.table import as_json, as_markdown

    wanted = _wanted(options.only)
    if options.list:
        print("\n".join(claim.name for claim in wanted))
        return 0
    rows = _rows(wanted, options)
    print(as_json(rows) if options.json else as_markdown(rows))
    return 0


def _wanted(text: str) -> "list[Claim]":
    """The claims whose name holds the text, in their order."""
    from odfl_cli.claims.comparisons import comparisons
    from odfl_cli.claims.statements import statements

    claims = [*comparisons(), *statements()]
    wanted = [claim for claim in claims if text in claim.name]
    if not wanted:
        first = ", ".join(dict.fromkeys(claim.name.partition("/")[0] for claim in claims))
        raise UserError(
            f"--only {text}: no claim's name holds it; names begin with {first}; "
            "'odfl claims --list' shows all"
        )
    return wanted


def _rows(wanted: "list[Claim]", options: argparse.Namespace) -> "list[Row]":
    """The claims, judged; every sweep is read once."""
    from odfl_cli.claims.claim import SAMPLE
    from odfl_cli.claims.evidence import collect
    from odfl_cli.claims.sweeps import SWEEPS

    evidence: dict[str, Any] = {SAMPLE: max(64, round(options.share * 4096))}
    for name in dict.fromkeys(claim.evidence for claim in wanted if claim.evidence != SAMPLE):
        evidence[name] = collect(SWEEPS[name], options.outputs, options.share)
    return [claim.judge(evidence[claim.evidence]) for claim in wanted]


def _parser() -> Parser:
    parser = Parser("claims", DESCRIPTION, EXAMPLES)
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--list", action="store_true", help="print the names and measure nothing")
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
