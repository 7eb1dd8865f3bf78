"""`odfl list`: every run, its state and its final cost."""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

from odfl_cli.cli.locations import OUTPUTS
from odfl_cli.cli.parser import Parser
from odfl_cli.core.text import Interval, age, assignments, interval, plus_minus, size, table
from odfl_cli.results.catalogue import Entry, catalogue
from odfl_cli.results.grouping import differing_keys

DESCRIPTION = """\
Lists runs: their state (finished, failed, running, unfinished, damaged, newer), what they differ
in, seeds, final average cost with its 95% interval, size on disk and age."""
EXAMPLES = """\
  odfl list                          all runs below outputs/
  odfl list outputs/sweeps/main      the jobs of a sweep
  odfl list --json | jq '.[] | select(.state == "failed") | .error'
"""
HEADINGS = ("run", "state", "differs in", "seeds", "average cost", "size", "age")
DIFFERS_IN = HEADINGS.index("differs in")


def main(argv: list[str]) -> int:
    """Prints the table, or JSON; returns the exit code."""
    parser = Parser("list", DESCRIPTION, EXAMPLES)
    parser.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="runs, sweeps or folders of them"
    )
    parser.add_argument("--json", action="store_true", help="a JSON list with all there is to tell")
    arguments = parser.parse_args(argv)
    entries = catalogue(arguments.paths or [OUTPUTS])
    keys = differing_keys(entries)
    if arguments.json:
        print(json.dumps([described(entry, keys) for entry in entries], indent=2))
    else:
        _print(entries, keys)
    return 0


def described(entry: Entry, keys: list[str]) -> dict[str, Any]:
    """A run as plain values."""
    return {
        "directory": str(entry.directory),
        "state": entry.state,
        "algorithm": entry.algorithm,
        "differs": _differing(entry, keys),
        "seeds": entry.seeds,
        "avg_cost": final_cost(entry),
        "bytes": entry.size,
        "age_seconds": round(entry.age),
        "version": entry.run.version,
        "error": entry.run.error,
        "reason": entry.run.reason,
    }


def final_cost(entry: Entry) -> Interval | None:
    """Mean and interval of the average cost, of a run that has results."""
    values = entry.final("avg_cost")
    return interval(values.values()) if values else None


def _print(entries: list[Entry], keys: list[str]) -> None:
    if not entries:
        print("no runs there yet: odfl run starts one")
        return
    top = Path(os.path.commonpath([entry.directory.parent for entry in entries]))
    rows = [_row(entry, keys, top) for entry in entries]
    print(table([HEADINGS, *rows], elastic=DIFFERS_IN))
    states = Counter(entry.state for entry in entries)
    counts = ", ".join(f"{count} {state}" for state, count in states.items())
    print(f"\n{top}: {counts}, {size(sum(entry.size for entry in entries))}")


def _row(entry: Entry, keys: list[str], top: Path) -> tuple[str, ...]:
    name = entry.directory.relative_to(top).as_posix()
    differing = _differing(entry, keys)
    if not entry.directory.name.startswith(f"{entry.algorithm}-"):  # else the name tells it
        differing = {"algo": entry.algorithm} | differing
    cost = final_cost(entry)
    return (
        name,
        entry.state,
        assignments(differing),
        str(len(entry.seeds)),
        plus_minus(**cost) if cost else "-",
        size(entry.size),
        age(entry.age),
    )


def _differing(entry: Entry, keys: list[str]) -> dict[str, Any]:
    return {key: entry.settings[key] for key in keys if key in entry.settings}
