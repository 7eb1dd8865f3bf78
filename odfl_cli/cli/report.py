"""`odfl report`: the results as one self-contained page."""

import json
import webbrowser
from collections import Counter
from pathlib import Path
from typing import Any

from odfl_cli.cli.parser import Parser, check_output, read_selection
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import atomic, check_replaceable, explain_write_errors, read_regular
from odfl_cli.core.text import printable, size, tell
from odfl_cli.results.finding import OUTPUTS, newest
from odfl_cli.results.summary import fits

DESCRIPTION = """\
Writes one HTML file that needs no server and no network: the verdict in words, a leaderboard,
curves, theory, sweeps, claims, failed runs, and the command that repeats every run. An existing
file is replaced only if it is a report, or with --force."""
EXAMPLES = """\
  odfl report                                  the newest run or sweep under outputs/
  odfl report main drift -o report.html --open
  odfl report outputs                          every sweep there is
"""
CLAIM = {
    "claim": str, "where": str, "verdict": str, "value": (None, float), "ci95": (None, float),
    "count": int, "claimed": {"side": str, "limit": float},
}  # fmt: skip
"""The fields of a claim that the page shows, with their types."""


def main(argv: list[str]) -> int:
    """Writes the page; returns the exit code."""
    parser = Parser("report", DESCRIPTION, EXAMPLES)
    add = parser.add_argument
    parser.add_runs("*", "the newest by default")
    add("-o", "--output", type=Path, default=Path("report.html"), metavar="FILE",
        help="where the page goes (default: %(default)s)")  # fmt: skip
    add("--claims", type=Path, metavar="FILE", help="the output of reproduce.claims --json")
    add("--title", default="", metavar="TEXT", help="the heading of the page")
    add("--force", action="store_true", help="replace a file that is not a report")
    add("--open", action="store_true", help="open the page in the browser")
    arguments = parser.parse_args(argv)
    from odfl_cli.report.content import document
    from odfl_cli.report.page import is_report, page
    from odfl_cli.report.sources import experiments

    output: Path = arguments.output
    check_output(output, ".html", hidden=".htm")
    check_replaceable(output, is_report, arguments.force)
    paths, where = read_selection(arguments)
    claims = _read_claims(arguments.claims) if arguments.claims else []
    found = experiments(paths or [newest(OUTPUTS)], where)
    states = Counter(run["state"] for one in found for run in one.runs)
    others = [f"{count} {state}" for state, count in states.items() if state != "finished"]
    if others:
        tell(f"the page lists runs without results: {', '.join(others)}")
    content = page(document(found, claims, arguments.title)).encode()
    with explain_write_errors(output), atomic(output, "wb") as file:
        file.write(content)
    print(f"{printable(str(output))}: {size(len(content))}")
    if arguments.open:
        webbrowser.open(output.resolve().as_uri())
    return 0


def _read_claims(path: Path) -> list[Any]:
    try:
        content = json.loads(read_regular(path))
    except OSError as error:
        raise UserError(f"--claims {path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        content = None
    if not fits(content, [CLAIM]):
        raise UserError(f"--claims {path}: it is not what reproduce.claims --json prints")
    return [{name: entry[name] for name in CLAIM} for entry in content]
