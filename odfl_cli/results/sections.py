"""Runs grouped by sweep, or by experiment if they belong to no sweep."""

from collections.abc import Container
from itertools import chain, count
from pathlib import Path

from odfl_cli.results.finding import Warn, find_runs
from odfl_cli.results.runs import StoredRun
from odfl_cli.results.selection import EVERY, Where
from odfl_cli.results.sweeps import INDEX

LOOSE = "runs"  # the section of runs that no experiment started


def sections(paths: list[Path], warn: Warn, where: Where = EVERY) -> dict[str, list[StoredRun]]:
    """Name → runs: the name of their sweep, or of the experiment that started them."""
    sweeps, loose = named_sweeps(paths)
    found = {name: find_runs([sweep], warn) for name, sweep in sweeps.items()}
    for run in find_runs(loose, warn):
        found.setdefault(run.choices.get("experiment", LOOSE), []).append(run)
    kept = {id(run) for run in where.of([run for runs in found.values() for run in runs])}
    chosen = {name: [run for run in runs if id(run) in kept] for name, runs in found.items()}
    return {name: runs for name, runs in chosen.items() if runs} or chosen


def named_sweeps(paths: list[Path]) -> tuple[dict[str, Path], list[Path]]:
    """The sweeps that the paths are or hold, each with a name of its own, and the other paths."""
    sweeps: dict[str, Path] = {}
    loose = []
    for path in dict.fromkeys(paths):
        held = sweeps_in(path)
        for sweep in held:
            sweeps[free_name(sweep.name, sweeps)] = sweep
        loose += [] if held else [path]
    return sweeps, loose


def sweeps_in(path: Path) -> list[Path]:
    """The path itself if it is a sweep, or those that it or its folder sweeps/ holds."""
    if (path / INDEX).is_file():
        return [path]
    return sorted(i.parent for i in (*path.glob(f"*/{INDEX}"), *path.glob(f"sweeps/*/{INDEX}")))


def free_name(name: str, taken: Container[str]) -> str:
    """The name, or with a number if it is taken."""
    numbered = (f"{name}-{number}" for number in count(2))
    return next(tried for tried in chain([name], numbered) if tried not in taken)
