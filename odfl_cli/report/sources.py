"""Reads the inputs of the page: experiments, their pooled runs, and the state of every run."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odfl_cli.core.errors import UserError
from odfl_cli.core.reading import UnreadableError
from odfl_cli.core.text import tell
from odfl_cli.results.finding import EVERY, Where, named_sweeps, sections
from odfl_cli.results.grouping import Group, group_runs
from odfl_cli.results.ownership import is_run
from odfl_cli.results.runs import StoredRun
from odfl_cli.results.sweeps import read_index
from odfl_cli.results.tables import Run, read_run
from odfl_cli.results.verdicts import choices_in, verdicts_in

Facts = dict[str, Any]

CHECKSUM_DIGITS = 16


@dataclass(frozen=True)
class Experiment:
    """A sweep, or runs that were named one by one."""

    name: str
    groups: list[Group]
    runs: list[Facts]  # one per run, in any state
    decided: Sequence[str] = ()  # the verdicts of until=decided
    chosen: Sequence[str] = ()  # the choices of tune=


def experiments(paths: list[Path], where: Where = EVERY) -> list[Experiment]:
    """The sweeps and runs at or below the paths; raises a UserError if there are none."""
    sweeps, _ = named_sweeps(paths)
    found = []
    for name, runs in sections(paths, tell, where).items():
        sweep = [sweeps[name]] if name in sweeps else []
        absent = [] if where.conditions else [job for path in sweep for job in _not_begun(path)]
        read = [_read(run) for run in runs]
        facts = [_facts(one, *results) for one, results in zip(runs, read, strict=True)]
        groups = group_runs([run for run, _ in read if run is not None])
        decided, chosen = verdicts_in(sweep), choices_in(sweep)
        found.append(Experiment(name, groups, facts + absent, decided, chosen))
    if not found:
        place = ", ".join(map(str, paths))
        raise UserError(f"report: there is no run in {place}; start one with 'odfl run'")
    return found


def _read(stored: StoredRun) -> tuple[Run | None, list[str]]:
    """The readable seeds of a run, and messages about the others."""
    missing: list[str] = []
    if not stored.seeds:
        return None, missing
    try:
        return read_run(stored, missing.append), missing
    except UnreadableError as error:
        return None, [*missing, str(error)]


def _facts(stored: StoredRun, run: Run | None, missing: list[str]) -> Facts:
    """The facts about a run that the page lists besides its numbers."""
    record = stored.summary.content if stored.summary else stored.failure
    files = stored.summary.files if stored.summary else {}
    return {
        "name": stored.directory.name,
        "directory": str(stored.directory),
        "algorithm": stored.algorithm,
        "state": stored.state if run is not None or stored.state != "finished" else "damaged",
        "reason": " ".join(missing) or stored.reason or "",
        "seeds": run.seeds if run is not None else [],
        "differs": shlex.split(stored.command)[2:],
        "command": stored.command,
        "odfl": list(stored.versions),
        "versions": record.get("versions") or {},
        "seconds": record.get("seconds") or {},
        "engine": str(record.get("engine") or ""),
        "files": {n: str(f.get("sha256", ""))[:CHECKSUM_DIGITS] for n, f in files.items()},
        "warnings": record.get("broken_assumptions") or [],
    }


def _not_begun(sweep: Path) -> list[Facts]:
    return [
        {"name": name, "directory": str(job.directory), "algorithm": name.rpartition("-")[0] or "?",
         "state": "not begun", "reason": "the sweep names it, but there is no such run", "seeds": []}
        for job in read_index(sweep)
        if (name := job.directory.name) and not is_run(job.directory)
    ]  # fmt: skip
