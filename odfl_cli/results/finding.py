"""Which runs there are: the one finder of `odfl list`, `show`, `best`, `export`, `clean` and `plot`."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from odfl_cli.core.errors import UserError
from odfl_cli.results.ownership import is_run
from odfl_cli.results.runs import StoredRun, inspect, status
from odfl_cli.results.selection import EVERY, Where
from odfl_cli.results.summary import SUMMARY, Seeds
from odfl_cli.results.sweeps import INDEX, read_index

Warn = Callable[[str], None]
Place = tuple[Path, Seeds | None]  # a run's directory and the seeds asked for; None: all


def find_runs(paths: list[Path], warn: Warn, where: Where = EVERY) -> list[StoredRun]:
    """Every run in or below the paths that meets the conditions, and the jobs of every sweep there,
    each once.
    """
    return where.of([stored_run(place) for place in find_places(paths, warn)])


def stored_run(place: Place) -> StoredRun:
    """The run at a place, with the seeds that were asked for."""
    run, asked = place
    return replace(inspect(run), asked=asked)


def find_places(paths: list[Path], warn: Warn) -> list[Place]:
    """The directories of the runs, unread.

    A run that is found through sweeps alone has the seeds that they asked for. `warn` is called
    with what was left out.
    """
    found: dict[Path, Place] = {}
    for path in paths:
        if not path.is_dir():
            raise UserError(f"{path}: no such directory; name one that holds runs")
        for run, asked in _places(path, warn):
            _, known = found.get(run.resolve(), (run, ()))
            joined = None if known is None or asked is None else (*known, *asked)
            found[run.resolve()] = run, joined
    return list(found.values())


def finished_runs(paths: list[Path], warn: Warn, where: Where = EVERY) -> list[StoredRun]:
    """The runs whose results are whole; `warn` is called with how many others there are."""
    runs = find_runs(paths, warn, where)
    whole = [run for run in runs if run.is_whole]
    others = Counter(run.state for run in runs if not run.is_whole)
    place = ", ".join(map(str, paths))
    counts = ", ".join(f"{count} {state}" for state, count in others.items())
    if not whole:
        raise UserError(f"no finished run in {place}" + (f" ({counts})" if counts else ""))
    if others:
        warn(f"left out of {place}: {counts}")
    warn_of_more_seeds(whole, warn)
    return whole


def warn_of_more_seeds(runs: list[StoredRun], warn: Warn) -> None:
    """Says that some runs hold more seeds than their sweep asked for."""
    more = sum(run.asked is not None and not set(run.listed) <= set(run.asked) for run in runs)
    if more:
        warn(
            f"{more} of {len(runs)} runs hold more seeds than the sweep asked for; those seeds are left out"
        )


def newest(outputs: Path) -> Path:
    """The sweep or run under `outputs` that finished last; a sweep is as new as its newest run."""
    ages = {run.parent: (status(run)[1], 0) for run in outputs.glob(f"runs/*/{SUMMARY}")}
    for index in outputs.glob(f"sweeps/*/{INDEX}"):
        with suppress(UserError):
            jobs = [job.directory / SUMMARY for job in read_index(index.parent)]
            ages[index.parent] = max(status(path)[1] for path in (index, *jobs)), 1
    if not ages:
        raise UserError(f"no runs under {outputs}: start one with 'odfl run', or name a directory")
    return max(ages, key=lambda directory: ages[directory])


def _places(path: Path, warn: Warn) -> Iterator[tuple[Path, Seeds | None]]:
    unreadable: list[OSError] = []
    for folder, folders, files in os.walk(path, onerror=unreadable.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        place = Path(folder)
        if INDEX in files:
            try:
                yield from _jobs(place, warn)
            except UserError as error:
                if place == path:
                    raise
                warn(f"skipped {error}")
        if is_run(place):
            yield place, None
    yield from ((Path(error.filename), None) for error in unreadable)


def _jobs(sweep: Path, warn: Warn) -> Iterator[tuple[Path, Seeds | None]]:
    """The jobs that have begun; a directory that cannot be opened may be one."""
    for job in read_index(sweep):
        closed = os.path.isdir(job.directory) and not os.access(job.directory, os.R_OK | os.X_OK)
        if closed or is_run(job.directory):
            yield job.directory, job.seeds
        else:
            warn(f"skipped {job.directory}: {sweep / INDEX} names it, but there is no run")
