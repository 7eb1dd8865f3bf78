"""The inputs of the page: experiments, their pooled runs, and the state of every run.

The only module of the report that knows how results are found and read.
"""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odfl_cli.core.errors import UserError
from odfl_cli.core.reading import UnreadableError
from odfl_cli.core.text import tell
from odfl_cli.results.finding import Place, find_places, stored_run
from odfl_cli.results.grouping import Group, group_runs
from odfl_cli.results.ownership import is_run
from odfl_cli.results.runs import StoredRun
from odfl_cli.results.sections import LOOSE, free_name, named_sweeps
from odfl_cli.results.selection import EVERY, Where
from odfl_cli.results.sweeps import INDEX, read_index
from odfl_cli.results.tables import Run, read_run

Facts = dict[str, Any]

MOST_RUNS = 5000  # a page of more could not be read by anyone
CHECKSUM_DIGITS = 16


@dataclass(frozen=True)
class Experiment:
    """A sweep, or runs that were named one by one."""

    name: str
    groups: list[Group]
    runs: list[Facts]  # one per run, in any state
    unread: int = 0  # runs beyond the most that a page holds


@dataclass
class _Room:
    """Which runs the page shows, and how many more it has room for."""

    left: int
    where: Where

    def take(self, places: list[Place]) -> list[Place]:
        taken = places[: self.left]
        self.left -= len(taken)
        return taken


def experiments(paths: list[Path], where: Where = EVERY, most: int = MOST_RUNS) -> list[Experiment]:
    """Every sweep that the paths name or hold, and the runs beside them; a UserError for none."""
    room = _Room(most, where)
    sweeps, loose = named_sweeps(paths)
    found = {name: _experiment(name, [sweep], room) for name, sweep in sweeps.items()}
    if loose:
        name = free_name(loose[0].resolve().name if len(loose) == 1 else LOOSE, found)
        found[name] = _experiment(name, loose, room)
    shown = [one for one in found.values() if one.runs]
    if not shown:
        place = ", ".join(map(str, paths))
        raise UserError(f"report: there is no run in {place}; start one with 'odfl run'")
    return shown


def _experiment(name: str, paths: list[Path], room: _Room) -> Experiment:
    every = find_places(paths, tell)
    taken = room.take(every)
    runs: list[Run] = []
    facts = []
    for stored in room.where.of(list(map(stored_run, taken))):
        run, missing = _read(stored)
        if run is not None:
            runs.append(run)
        facts.append(_facts(stored, run, missing))
    if not room.where.conditions:
        facts += [_absent(directory) for path in paths for directory in _not_begun(path)]
    return Experiment(name, group_runs(runs), facts, len(every) - len(taken))


def _read(stored: StoredRun) -> tuple[Run | None, list[str]]:
    """The readable seeds of a run, and what could not be read."""
    missing: list[str] = []
    if not stored.seeds:
        return None, missing
    try:
        return read_run(stored, missing.append), missing
    except UnreadableError as error:
        return None, [*missing, str(error)]


def _facts(stored: StoredRun, run: Run | None, missing: list[str]) -> Facts:
    """What the page tells of a run besides its numbers."""
    record = stored.summary.content if stored.summary else stored.failure
    files = stored.summary.files if stored.summary else {}
    command = stored.command
    return {
        "name": stored.directory.name,
        "directory": str(stored.directory),
        "algorithm": stored.algorithm,
        "state": stored.state if run is not None or stored.state != "finished" else "damaged",
        "reason": " ".join(missing) or stored.reason or "",
        "seeds": run.seeds if run is not None else [],
        "differs": shlex.split(command)[2:],
        "command": command,
        "odfl": list(stored.versions),
        "versions": _texts(record.get("versions")),
        "seconds": _numbers(record.get("seconds")),
        "engine": str(record.get("engine") or ""),
        "files": {n: str(f.get("sha256", ""))[:CHECKSUM_DIGITS] for n, f in files.items()},
        "warnings": [str(line) for line in _list(record.get("broken_assumptions"))],
    }


def _absent(directory: Path) -> Facts:
    name = directory.name
    return {"name": name, "directory": str(directory), "algorithm": name.rpartition("-")[0] or "?",
            "state": "not begun", "reason": "the sweep names it, but there is no such run",
            "seeds": []}  # fmt: skip


def _not_begun(path: Path) -> list[Path]:
    if not (path / INDEX).is_file():
        return []
    return [job.directory for job in read_index(path) if not is_run(job.directory)]


def _texts(value: object) -> dict[str, str]:
    return {str(k): str(v) for k, v in value.items()} if isinstance(value, dict) else {}


def _numbers(value: object) -> dict[str, float]:
    pairs = value.items() if isinstance(value, dict) else ()
    return {str(k): float(v) for k, v in pairs if isinstance(v, int | float)}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
