"""What the page is made of: experiments, their pooled runs, and what became of every run.

The only module of the report that knows how results are found and read.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odfl_cli.core.errors import UserError
from odfl_cli.results.catalogue import Entry, catalogue
from odfl_cli.results.grouping import Group, group_runs
from odfl_cli.results.reproduce import command, overrides
from odfl_cli.results.sweep_index import INDEX, read_index
from odfl_cli.results.tables import Run, UnreadableError, read_run

Warn = Callable[[str], None]
Facts = dict[str, Any]

MOST_RUNS = 5000  # a page of more could not be read by anyone
CHECKSUM_DIGITS = 16
LOOSE = "runs"  # the experiment of runs that belong to no sweep


@dataclass(frozen=True)
class Experiment:
    """A sweep, or runs that were named one by one."""

    name: str
    groups: list[Group]
    runs: list[Facts]  # one per run, whatever became of it
    unread: int = 0  # runs beyond the most that a page holds


@dataclass
class _Room:
    """How many more runs the page has room for."""

    left: int = MOST_RUNS

    def take(self, entries: list[Entry]) -> list[Entry]:
        taken = entries[: self.left]
        self.left -= len(taken)
        return taken


def experiments(paths: list[Path]) -> list[Experiment]:
    """Every sweep that the paths name or hold, and the runs beside them; a UserError for none."""
    room = _Room()
    sweeps = [sweep for path in paths for sweep in _sweeps(path)]
    loose = [path for path in paths if not _sweeps(path)]
    names = _distinct([sweep.name for sweep in sweeps])
    found = [_experiment(name, [at], room) for name, at in zip(names, sweeps, strict=True)]
    found += [_experiment(_loose_name(loose), loose, room)] if loose else []
    if not any(one.runs for one in found):
        where = ", ".join(map(str, paths))
        raise UserError(f"report: there is no run in {where}; start one with 'odfl run'")
    return [one for one in found if one.runs]


def _experiment(name: str, paths: list[Path], room: _Room) -> Experiment:
    every = catalogue(paths)
    entries = room.take(every)
    runs: list[Run] = []
    facts = []
    for entry in entries:
        run, missing = _read(entry)
        if run is not None:
            runs.append(run)
        facts.append(_facts(entry, run, missing))
    facts += [_absent(directory) for path in paths for directory in _not_begun(path)]
    return Experiment(name, group_runs(runs), facts, len(every) - len(entries))


def _read(entry: Entry) -> tuple[Run | None, list[str]]:
    """The readable seeds of a run, and what could not be read."""
    missing: list[str] = []
    if not entry.seeds:
        return None, missing
    try:
        return read_run(entry.directory, missing.append, frozenset(entry.seeds)), missing
    except UnreadableError as error:
        return None, [*missing, str(error)]


def _facts(entry: Entry, run: Run | None, missing: list[str]) -> Facts:
    """What the page tells of a run besides its numbers."""
    record = entry.run.summary or {}
    files = record.get("files")
    return {
        "name": entry.directory.name,
        "directory": str(entry.directory),
        "algorithm": entry.algorithm,
        "state": entry.state if run is not None or entry.state != "finished" else "damaged",
        "reason": " ".join(filter(None, [entry.run.reason, *missing])),
        "seeds": run.seeds if run is not None else [],
        "differs": _quietly(overrides, entry),
        "command": _quietly(command, entry),
        "odfl": list(entry.run.versions),
        "versions": _texts(record.get("versions")),
        "seconds": _numbers(record.get("seconds")),
        "engine": str(record.get("engine") or ""),
        "files": {
            str(name): str(file.get("sha256", ""))[:CHECKSUM_DIGITS]
            for name, file in (files.items() if isinstance(files, dict) else ())
            if isinstance(file, dict)
        },
        "warnings": [str(line) for line in _list(record.get("broken_assumptions"))],
    }


def _absent(directory: Path) -> Facts:
    name = directory.name
    return {"name": name, "directory": str(directory), "algorithm": name.rpartition("-")[0] or "?",
            "state": "not begun", "reason": "the sweep names it, but there is no such run",
            "seeds": []}  # fmt: skip


def _quietly(tell: Callable[[Entry], Any], entry: Entry) -> Any:
    """The answer, or none for a record that is too damaged for it."""
    try:
        return tell(entry)
    except (UserError, ValueError, KeyError, TypeError, AttributeError, OSError):
        return None


def _sweeps(path: Path) -> list[Path]:
    """The path itself if it is a sweep, or those that it or its folder sweeps/ holds."""
    if not path.is_dir():
        raise UserError(f"{path}: no such directory; name a sweep, a run or a folder of them")
    if (path / INDEX).is_file():
        return [path]
    held = [*path.glob(f"*/{INDEX}"), *path.glob(f"sweeps/*/{INDEX}")]
    return sorted(index.parent for index in held)


def _not_begun(path: Path) -> list[Path]:
    if not (path / INDEX).is_file():
        return []
    return [job.directory for job in read_index(path) if not job.directory.is_dir()]


def _loose_name(paths: list[Path]) -> str:
    return paths[0].resolve().name if len(paths) == 1 else LOOSE


def _distinct(names: Iterable[str]) -> list[str]:
    """The names, the second of two equal ones with a number."""
    seen: dict[str, int] = {}
    distinct = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        distinct.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return distinct


def _texts(value: object) -> dict[str, str]:
    return {str(k): str(v) for k, v in value.items()} if isinstance(value, dict) else {}


def _numbers(value: object) -> dict[str, float]:
    pairs = value.items() if isinstance(value, dict) else ()
    return {str(k): float(v) for k, v in pairs if isinstance(v, int | float)}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
