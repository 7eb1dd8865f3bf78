"""Finds the runs that a verb or `load` is called with: by path, name and conditions."""

import os
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import TypeVar

from odfl_cli.core.errors import UserError
from odfl_cli.core.seeds import format_seeds
from odfl_cli.core.text import format_value, nearest
from odfl_cli.results.grouping import check_key, is_one_of
from odfl_cli.results.ownership import is_run
from odfl_cli.results.runs import StoredRun, inspect, status
from odfl_cli.results.summary import SUMMARY, Seeds
from odfl_cli.results.sweeps import INDEX, read_index

Warn = Callable[[str], None]
Place = tuple[Path, Seeds | None]  # a run's directory and the seeds asked for; None: all
OUTPUTS = Path("outputs")
LOOSE = "runs"  # the section of runs without an experiment
MOST_NAMED = 5
T = TypeVar("T")


def locate(name: str | Path, outputs: Path = OUTPUTS) -> Path:
    """The directory of a path, or of a sweep or run in `outputs`, by its name or a unique prefix."""
    for path in (Path(name), outputs / "sweeps" / name, outputs / "runs" / name):
        if os.path.isdir(path):  # False if the name is too long
            return path
    known = [*_folders(outputs / "sweeps"), *_folders(outputs / "runs")]
    found = [path for path in known if name and _begins(path.name, str(name))]
    if len(found) == 1:
        return found[0]
    if found:
        kinds = " and ".join(dict.fromkeys(path.parent.name for path in reversed(found)))
        names = ", ".join(path.name for path in found[:MOST_NAMED])
        more = ", …" if len(found) > MOST_NAMED else ""
        raise UserError(f"{name}: {len(found)} {kinds} begin like that: {names}{more}")
    near = nearest(str(name), [path.name for path in known])
    hint = f"; did you mean {near[0]}?" if near else ""
    raise UserError(f"{name}: no such directory, sweep or run in {outputs}{hint}")


def locate_all(names: Iterable[str]) -> list[Path]:
    """The directories of all names; raises one UserError for all that do not exist."""
    found, refusals = try_each(names, locate)
    if refusals:
        raise join_refusals(refusals)
    return list(found.values())


def try_each(
    names: Iterable[str], call: Callable[[str], T]
) -> tuple[dict[str, T], list[UserError]]:
    """The results of a function by name, and its UserErrors for the other names."""
    found, refusals = {}, []
    for name in names:
        try:
            found[name] = call(name)
        except UserError as error:
            refusals.append(error)
    return found, refusals


def join_refusals(refusals: Iterable[UserError]) -> UserError:
    """Joins UserErrors to one."""
    return UserError("; ".join(dict.fromkeys(map(str, refusals))))


def _folders(place: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(path for path in place.iterdir() if path.is_dir())
    return []


@dataclass(frozen=True)
class Where:
    """Conditions on settings, key → allowed values as typed, and the seeds to read (None: of the last request)."""

    conditions: Mapping[str, tuple[str, ...]]
    seeds: Seeds | None = None

    @classmethod
    def parse(cls, words: Iterable[str], seeds: Seeds | None = None) -> "Where":
        """Parses words like `data.gamma=0,0.5`."""
        conditions = {}
        for word in words:
            key, _, values = word.partition("=")
            if not key or not values:
                raise UserError(f"--where {word}: should be KEY=VALUE or KEY=VALUE,VALUE")
            conditions[key] = tuple(values.split(","))
        return cls(conditions, seeds)

    def filter(self, runs: list[StoredRun]) -> list[StoredRun]:
        """The runs that meet all conditions; raises a UserError if none does."""
        left = runs
        for key, values in self.conditions.items():
            if left:
                check_key(left, key, "--where")
            having = [run for run in left if key in run.settings]
            left = [run for run in having if is_one_of(run.settings[key], values)]
            if having and not left:
                there = ", ".join(dict.fromkeys(format_value(run.settings[key]) for run in having))
                words = f"{key}={','.join(values)}"
                raise UserError(f"--where {words}: no run has it; there are {there}")
        return left if self.seeds is None else self._choose_seeds(left)

    def _choose_seeds(self, runs: list[StoredRun]) -> list[StoredRun]:
        asked = set(self.seeds or ())
        chosen = [replace(run, asked=tuple(filter(asked.__contains__, run.listed))) for run in runs]
        kept = [run for run in chosen if run.seeds or not run.listed]
        if runs and not any(run.seeds for run in kept):
            there = format_seeds({seed for run in runs for seed in run.listed}) or "none"
            raise UserError(
                f"--seeds {format_seeds(asked)}: no run has one of them; there are {there}"
            )
        return kept


EVERY = Where({})


def _begins(name: str, prefix: str) -> bool:
    return name.startswith(prefix) or name.rpartition("-")[2].startswith(prefix)


def find_runs(paths: list[Path], warn: Warn, where: Where = EVERY) -> list[StoredRun]:
    """The runs in or below the paths, or of sweeps there, that meet the conditions, without repetition."""
    return choose([stored_run(place) for place in find_places(paths, warn)], warn, where)


def choose(found: list[StoredRun], warn: Warn, where: Where) -> list[StoredRun]:
    """The runs that meet the conditions; calls `warn` about seeds of other requests, and about absent ones."""
    runs = where.filter(found)
    known = [run for run in runs if run.asked is not None and run.listed]
    if where.seeds is None:
        more = [set(run.listed).difference(run.asked or ()) for run in known]
    else:
        more = [set(where.seeds).difference(run.listed) for run in known if run.listed]
    count = f"{sum(map(bool, more))} of {len(runs)} runs" if len(runs) > 1 else "the run"
    seeds = format_seeds(set[int]().union(*more))
    seeds = f"[{seeds}]" if seeds.isdecimal() else seeds  # a number alone is a count
    if seeds and where.seeds is None:
        warn(f"left out seeds of other requests in {count}; --seeds {seeds} reads them")
    elif seeds:
        warn(f"--seeds {seeds}: not in {count}")
    return runs


def stored_run(place: Place) -> StoredRun:
    """The run at a place, with the seeds that its sweeps or the last request asked for."""
    run, asked = place
    found = inspect(run)
    last = found.summary.content.get("asked") if found.summary else None
    return replace(found, asked=asked if asked is not None else tuple(last) if last else None)


def find_places(paths: list[Path], warn: Warn) -> list[Place]:
    """The directories of the runs in or below the paths, with the seeds that sweeps asked for (None: all)."""
    found: dict[Path, Place] = {}
    for path in paths:
        if not path.is_dir():
            raise UserError(f"{path}: no such directory; name one that holds runs")
        for run, asked in _walk(path, warn):
            _, known = found.get(run.resolve(), (run, ()))
            found[run.resolve()] = run, _join(known, asked)
    return list(found.values())


def _join(first: Seeds | None, second: Seeds | None) -> Seeds | None:
    """The larger of two requests, or None if neither contains the other."""
    if first is None or second is None:
        return None
    small, large = sorted((first, second), key=len)
    return large if set(small) <= set(large) else None


def keep_whole(runs: list[StoredRun], place: str, warn: Warn) -> list[StoredRun]:
    """The runs with complete results; raises a UserError if there is none."""
    whole = [run for run in runs if run.is_whole]
    others = Counter(run.state for run in runs if not run.is_whole)
    counts = ", ".join(f"{count} {state}" for state, count in others.items())
    if not whole:
        raise UserError(f"no finished run in {place}" + (f" ({counts})" if counts else ""))
    if others:
        warn(f"left out of {place}: {counts}")
    return whole


def sections(paths: list[Path], warn: Warn, where: Where = EVERY) -> dict[str, list[StoredRun]]:
    """Name of a sweep or an experiment → its runs."""
    sweeps, loose = named_sweeps(paths)
    places = {name: [sweep] for name, sweep in sweeps.items()} | {"": loose}
    default = free_name(loose[0].resolve().name if len(loose) == 1 else LOOSE, sweeps)

    def find(name: str) -> list[StoredRun]:
        return find_runs(
            places[name], lambda line: warn(f"{name}: {line}" if name else line), where
        )

    found, refusals = try_each(places, find)
    for run in found.pop("", []):
        is_named = len(loose) == 1 and loose[0].resolve() == run.directory.resolve()
        section = default if is_named else run.choices.get("experiment", default)
        found.setdefault(section, []).append(run)
    if refusals and not any(found.values()):
        raise join_refusals(refusals)
    for refusal in refusals:
        warn(f"left out: {refusal}")
    return {name: runs for name, runs in found.items() if runs}


def named_sweeps(paths: list[Path]) -> tuple[dict[str, Path], list[Path]]:
    """The sweeps at or below the paths by unique names, and the other paths."""
    held = {path: sweeps_in(path) for path in paths}
    sweeps: dict[str, Path] = {}
    for sweep in chain(*held.values()):
        sweeps[free_name(sweep.name, sweeps)] = sweep
    return sweeps, [path for path in held if not held[path]]


def sweeps_in(path: Path) -> list[Path]:
    """The path itself if it is a sweep, else the sweeps in it or in its folder sweeps/."""
    if (path / INDEX).is_file():
        return [path]
    return sorted(i.parent for i in (*path.glob(f"*/{INDEX}"), *path.glob(f"sweeps/*/{INDEX}")))


def free_name(name: str, taken: Container[str]) -> str:
    """The name, with a number appended if it is taken."""
    numbered = (f"{name}-{number}" for number in count(2))
    return next(tried for tried in chain([name], numbered) if tried not in taken)


def newest(outputs: Path) -> Path:
    """The sweep or run under `outputs` that finished last; a sweep ends with its last run."""
    ages = {run.parent: (status(run)[1], 0) for run in outputs.glob(f"runs/*/{SUMMARY}")}
    for index in outputs.glob(f"sweeps/*/{INDEX}"):
        with suppress(UserError):
            jobs = [job.directory / SUMMARY for job in read_index(index.parent)]
            ages[index.parent] = max(status(path)[1] for path in (index, *jobs)), 1
    if not ages:
        raise UserError(f"no runs under {outputs}: start one with 'odfl run', or name a directory")
    return max(ages, key=lambda directory: ages[directory])


def _walk(path: Path, warn: Warn) -> Iterator[Place]:
    unreadable: list[OSError] = []
    for folder, folders, files in os.walk(path, onerror=unreadable.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        place = Path(folder)
        if INDEX in files:
            try:
                yield from _begun_jobs(place, warn)
            except UserError as error:
                if place == path:
                    raise
                warn(f"skipped {error}")
        if is_run(place):
            yield place, None
    yield from ((Path(error.filename), None) for error in unreadable)


def _begun_jobs(sweep: Path, warn: Warn) -> Iterator[Place]:
    """The jobs of a sweep that have begun, including directories that cannot be opened."""
    asked: dict[Path, Seeds | None] = {}
    for job in read_index(sweep):
        known = asked.get(job.directory, ())
        asked[job.directory] = None if known is None or job.seeds is None else (*known, *job.seeds)
    for directory, seeds in asked.items():
        closed = os.path.isdir(directory) and not os.access(directory, os.R_OK | os.X_OK)
        if closed or is_run(directory):
            yield directory, seeds
        else:
            warn(f"skipped {directory}: {sweep / INDEX} names it, but there is no run")
