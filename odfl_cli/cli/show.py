"""`odfl show`: one run, and the command that repeats it."""

import json
from textwrap import indent
from typing import Any

import yaml

from odfl_cli import __version__
from odfl_cli.cli.list import describe, print_runs
from odfl_cli.cli.parser import Parser
from odfl_cli.core.errors import UserError
from odfl_cli.core.seeds import format_seeds
from odfl_cli.core.statistics import interval
from odfl_cli.core.text import age, assignments, plus_minus, printable, size, tell
from odfl_cli.results.finding import Where, choose, find_runs, locate, stored_run
from odfl_cli.results.ownership import is_run
from odfl_cli.results.runs import StoredRun
from odfl_cli.results.sweeps import INDEX

DESCRIPTION = """\
Shows one run: its state, its final figures, its configuration, its files, and one command that
computes the same numbers again. For a sweep it lists the jobs."""
EXAMPLES = """\
  odfl show outputs/runs/df_ogd-3a14e3471e86
  odfl show 3a14                         the same, if no other run's hash begins so
  odfl show main                         the jobs of a sweep
"""


def main(argv: list[str]) -> int:
    """Prints the run; returns the exit code."""
    parser = Parser("show", DESCRIPTION, EXAMPLES)
    name = "its directory, its name, or the beginning of its hash"
    parser.add_argument("run", metavar="RUN|SWEEP", help=name)
    parser.add_seeds()
    parser.add_argument("--json", action="store_true", help="as JSON")
    arguments = parser.parse_args(argv)
    directory, where = locate(arguments.run), Where({}, arguments.seeds)
    if (directory / INDEX).is_file():
        jobs = find_runs([directory], tell, where)
        if arguments.json:
            print(json.dumps([_everything(run) for run in jobs], indent=2))
        else:
            print_runs(jobs)
        return 0
    if not is_run(directory):
        raise UserError(f"{directory}: not the directory of a run; 'odfl list' finds them")
    (run,) = choose([stored_run((directory, None))], tell, where)
    if run.state == "newer":
        raise UserError(f"{directory}: {run.reason}; use that newer version")
    if arguments.json:
        print(json.dumps(_everything(run), indent=2))
    else:
        print("\n".join(map(printable, _lines(run))))
    return 0


def _everything(run: StoredRun) -> dict[str, Any]:
    content = run.summary.content if run.summary else None
    known = {"summary": content, "config": run.config, "choices": run.choices}
    return {**describe(run, keys=[]), **known, "command": run.command}


def _lines(run: StoredRun) -> list[str]:
    reason = f" ({run.reason})" if run.reason else ""
    config = yaml.safe_dump(run.config, sort_keys=False, allow_unicode=True)
    facts = {
        **_figures(run),
        "versions": _versions(run),
        "choices": assignments(run.choices),
        "files": " ".join(sorted(path.name for path in run.directory.iterdir())),
    }
    width = max(map(len, facts)) + 2
    return [
        f"{run.directory}: {run.state}{reason}, {age(run.age)} old, {size(run.size)}",
        "",
        *(f"{name:<{width}}{fact}" for name, fact in facts.items()),
        "",
        "configuration",
        *indent(config, "  ").splitlines(),
        "",
        "again",
        f"  {run.command}",
    ]


def _figures(run: StoredRun) -> dict[str, str]:
    """The rounds, the seeds and the engine, and the final value of each column."""
    if not run.summary or not run.seeds:
        return {}
    facts = f"{run.summary.rounds} rounds, seeds {format_seeds(run.seeds)}"
    finals = {column: run.final(column) for column in run.columns}
    return {
        "computed": f"{facts}, engine {run.summary.content.get('engine')}",
        **{c: plus_minus(**interval(f.values())) for c, f in finals.items() if f},
    }


def _versions(run: StoredRun) -> str:
    versions = run.summary.content.get("versions", {}) if run.summary else {}
    text = ", ".join(f"{name} {version}" for name, version in versions.items()) or run.version
    other = run.version not in (None, __version__)
    return (text or "unknown") + (f"; this is odfl {__version__}" if other else "")
