"""`python -m reproduce.claims`: runs what is missing, measures, and prints one table of verdicts."""

import argparse
import sys
from pathlib import Path
from typing import Any

from odfl_cli.core.errors import UserError, report
from odfl_cli.results.finding import OUTPUTS
from reproduce.claims.claim import SAMPLE, Claim, Row, control_discoveries
from reproduce.claims.comparisons import comparisons
from reproduce.claims.evidence import SWEEPS
from reproduce.claims.statements import statements
from reproduce.claims.table import as_json, as_markdown

DESCRIPTION = """\
Measures every claim of the paper that can be tested. A claim holds, does not hold, or cannot be
decided at this sample size. Each is also measured on controls, such as players that learn nothing: a
claim that holds for a control is without power. Costs are mean costs, E[c_t | X_t] of the decision
played; realised costs are beside them. On average at most 5% of the decided claims are decided by
chance (Benjamini and Hochberg). Finished runs under --outputs are used, missing ones are computed,
which takes about ten minutes of processor time."""
EXAMPLES = """\
  python -m reproduce.claims --list                       the names of all claims
  python -m reproduce.claims --only high_dimension --json
"""


def main(arguments: list[str] | None = None) -> int:
    """Prints the table, or JSON; returns the exit code."""
    options = _parser().parse_args(arguments)
    wanted = _select(options.only)
    if options.list:
        print("\n".join(claim.name for claim in wanted))
        return 0
    rows = _judge(wanted, options)
    print(as_json(rows) if options.json else as_markdown(rows))
    return 0


def _select(text: str) -> list[Claim]:
    """The claims whose name holds the text, in their order."""
    claims = [*comparisons(), *statements()]
    wanted = [claim for claim in claims if text in claim.name]
    if not wanted:
        first = ", ".join(dict.fromkeys(claim.name.partition("/")[0] for claim in claims))
        raise UserError(f"--only {text}: no claim's name contains it; names begin with {first}")
    return wanted


def _judge(wanted: list[Claim], options: argparse.Namespace) -> list[Row]:
    """The claims, judged; every sweep is read once."""
    evidence: dict[str, Any] = {SAMPLE: max(64, round(options.share * 4096))}
    for name in dict.fromkeys(claim.evidence for claim in wanted if claim.evidence != SAMPLE):
        evidence[name] = SWEEPS[name].collect(options.outputs, options.share)
    return control_discoveries([claim.judge(evidence[claim.evidence]) for claim in wanted])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m reproduce.claims",
        description=DESCRIPTION,
        epilog=f"examples:\n{EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--list", action="store_true", help="print the names and measure nothing")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="claims whose name contains TEXT, such as main/"
    )
    parser.add_argument(
        "--share", type=_parse_share, default=1.0, metavar="X",
        help="scale the number of seeds and samples (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--outputs", type=Path, default=OUTPUTS, metavar="DIR",
        help="where runs are kept (default: %(default)s)",
    )  # fmt: skip
    return parser


def _parse_share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1000:
        raise argparse.ArgumentTypeError(f"{text!r} should be a number above 0")
    return share


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (UserError, OSError, KeyboardInterrupt) as error:
        sys.exit(report(error))
