"""`odfl list`: every run, its state and its final cost."""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

from odfl_cli.cli.parser import Parser, read_selection
from odfl_cli.core.statistics import Interval, interval
from odfl_cli.core.text import age, plus_minus, printable, relative, size, table, tell
from odfl_cli.results.finding import OUTPUTS, find_runs
from odfl_cli.results.grouping import differing_keys
from odfl_cli.results.runs import StoredRun

DESCRIPTION = """\
Lists runs: their state (finished, failed, running, unfinished, damaged, newer), what was typed
beyond the default, seeds, final average cost with its 95% interval, size on disk and age."""
EXAMPLES = """\
  odfl list                          all runs below outputs/
  odfl list main                     the jobs of a sweep
  odfl list --where algo=df_ogd,pf_ogd data.gamma=0.5
  odfl list --json | jq '.[] | select(.state == "failed") | .error'
"""
HEADINGS = ("run", "state", "overrides", "seeds", "average cost", "size", "age")
OVERRIDES = HEADINGS.index("overrides")


def main(argv: list[str]) -> int:
    """Prints the table, or JSON; returns the exit code."""
    parser = Parser("list", DESCRIPTION, EXAMPLES)
    parser.add_runs("*", "all below outputs by default")
    parser.add_argument("--json", action="store_true", help="print a JSON list with all details")
    arguments = parser.parse_args(argv)
    paths, where = read_selection(arguments)
    runs = find_runs(paths or [OUTPUTS], tell, where)
    if arguments.json:
        keys = differing_keys(runs)
        print(json.dumps([describe(run, keys) for run in runs], indent=2))
    else:
        print_runs(runs)
    return 0


def describe(run: StoredRun, keys: list[str]) -> dict[str, Any]:
    """A run as plain values."""
    return {
        "directory": str(run.directory),
        "state": run.state,
        "algorithm": run.algorithm,
        "overrides": run.overrides,
        "differs": {key: run.settings[key] for key in keys if key in run.settings},
        "seeds": list(run.seeds),
        "avg_cost": _final_cost(run),
        "bytes": run.size,
        "age_seconds": round(run.age),
        "version": run.version,
        "error": run.error,
        "reason": run.reason,
    }


def print_runs(runs: list[StoredRun]) -> None:
    """Prints one line per run, then the number of runs in every state."""
    if not runs:
        print("no runs there yet: odfl run starts one")
        return
    top = Path(os.path.commonpath([os.path.abspath(run.directory.parent) for run in runs]))
    print(table([HEADINGS, *(_row(run, top) for run in runs)], elastic=OVERRIDES))
    states = Counter(run.state for run in runs)
    counts = ", ".join(f"{count} {state}" for state, count in states.items())
    print(f"\n{printable(relative(top))}: {counts}, {size(sum(run.size for run in runs))}")


def _row(run: StoredRun, top: Path) -> tuple[str, ...]:
    algo, words = f"algo={run.algorithm}", run.overrides
    if run.directory.name.startswith(f"{run.algorithm}-"):  # the name has it
        words = [word for word in words if word != algo]
    elif algo not in words:
        words = [algo, *words]
    cost, seeds = _final_cost(run), len(run.seeds)
    return (
        os.path.relpath(run.directory, top),
        run.state,
        run.reason or "" if run.state == "damaged" else " ".join(words) or "-",
        f"{seeds} of {len(run.listed)}" if seeds < len(run.listed) else str(seeds),
        plus_minus(**cost) if cost else "-",
        size(run.size),
        age(run.age),
    )


def _final_cost(run: StoredRun) -> Interval | None:
    """Mean and interval of the average cost; None without results."""
    values = run.final("avg_cost")
    return interval(values.values()) if values else None
