"""`odfl show`: one run, and the command that repeats it."""

import json
from typing import Any

import yaml

from odfl_cli import __version__
from odfl_cli.cli.list import described
from odfl_cli.cli.locations import located
from odfl_cli.cli.parser import Parser
from odfl_cli.core.errors import UserError
from odfl_cli.core.text import age, interval, plus_minus, size
from odfl_cli.results.catalogue import Entry, is_run
from odfl_cli.results.reproduce import command
from odfl_cli.results.run_state import inspect

DESCRIPTION = """\
Shows one run: its state, its final figures, its configuration, its files, and one command that
computes the same numbers again."""
EXAMPLES = """\
  odfl show outputs/runs/df_ogd-3a14e3471e86
  odfl show df_ogd-3a14e3471e86          the same
"""


def main(argv: list[str]) -> int:
    """Prints the run; returns the exit code."""
    parser = Parser("show", DESCRIPTION, EXAMPLES)
    parser.add_argument("run", metavar="RUN", help="its directory, or its name in outputs/runs")
    parser.add_argument("--json", action="store_true", help="as JSON")
    arguments = parser.parse_args(argv)
    directory = located(arguments.run, "runs")
    if not is_run(directory):
        raise UserError(f"{directory}: not the directory of a run; 'odfl list' finds them")
    entry = Entry(directory, inspect(directory))
    if entry.state == "newer":
        raise UserError(f"{directory}: {entry.run.reason}; use that newer version")
    if arguments.json:
        print(json.dumps(_everything(entry), indent=2))
    else:
        print("\n".join(_lines(entry)))
    return 0


def _everything(entry: Entry) -> dict[str, Any]:
    summary = {"summary": entry.run.summary, "config": entry.config, "choices": entry.choices}
    return {**described(entry, keys=[]), **summary, "command": command(entry)}


def _lines(entry: Entry) -> list[str]:
    reason = f" ({entry.run.reason})" if entry.run.reason else ""
    choices = " ".join(f"{group}={choice}" for group, choice in entry.choices.items())
    return [
        f"{entry.directory}: {entry.state}{reason}, {age(entry.age)} old, {size(entry.size)}",
        "",
        *_figures(entry),
        f"{'versions':<12}{_versions(entry)}",
        f"{'choices':<12}{choices}",
        f"{'files':<12}{' '.join(sorted(path.name for path in entry.directory.iterdir()))}",
        "",
        "configuration",
        *_indented(yaml.safe_dump(entry.config, sort_keys=False, allow_unicode=True)),
        "",
        "again",
        f"  {command(entry)}",
    ]


def _figures(entry: Entry) -> list[str]:
    """What was computed, and each column after the last round."""
    if not entry.seeds:
        return []
    summary = entry.run.summary or {}
    facts = f"{summary.get('rounds')} rounds, seeds {_spans(entry.seeds)}"
    finals = {column: entry.final(column) for column in entry.columns}
    return [
        f"{'computed':<12}{facts}, engine {summary.get('engine')}",
        *(f"{c:<12}{plus_minus(**interval(f.values()))}" for c, f in finals.items() if f),
    ]


def _versions(entry: Entry) -> str:
    versions = (entry.run.summary or {}).get("versions")
    named = versions.items() if isinstance(versions, dict) else ()
    text = ", ".join(f"{name} {version}" for name, version in named) or entry.run.version
    other = entry.run.version not in (None, __version__)
    return (text or "unknown") + (f"; this is odfl {__version__}" if other else "")


def _spans(seeds: list[int]) -> str:
    """0–9, 12: runs of neighbours in short."""
    spans: list[list[int]] = []
    for seed in sorted(seeds):
        if spans and seed == spans[-1][-1] + 1:
            spans[-1].append(seed)
        else:
            spans.append([seed])
    return ", ".join(f"{s[0]}–{s[-1]}" if len(s) > 1 else str(s[0]) for s in spans)


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.splitlines()]
