"""index.json of a sweep: its jobs, their directories and their states after the last sweep."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from odfl_cli.core.errors import UserError
from odfl_cli.core.files import write_json
from odfl_cli.core.locks import locked
from odfl_cli.core.reading import UnreadableError, read_json
from odfl_cli.results.runs import StoredRun
from odfl_cli.results.summary import fits

INDEX = "index.json"


@dataclass(frozen=True)
class IndexJob:
    """One job of a sweep. `seeds` is None if the index does not name them: all seeds."""

    overrides: list[str]
    directory: Path
    seeds: tuple[int, ...] | None = None
    state: str = "unfinished"

    @property
    def key(self) -> tuple[str, tuple[int, ...] | None]:
        """Identifies a job within a sweep: its directory and its seeds."""
        return os.path.abspath(self.directory), self.seeds

    def judge(self, found: StoredRun) -> "IndexJob":
        """The job with the state of its directory, for the seeds that it asks for."""
        whole = self.seeds is not None and found.covers(self.seeds)
        return replace(self, state="finished" if whole else found.state)


def read_index(sweep: Path) -> list[IndexJob]:
    """The jobs of a sweep's directory; raises a UserError if they cannot be read."""
    path = sweep / INDEX
    try:
        jobs: Any = read_json(path).get("jobs")
        if not fits(jobs, [{"directory": str}]):
            raise UnreadableError("jobs should be a list of mappings with a directory each")
        return [_parse(sweep, entry) for entry in jobs]
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file") from None
    except UnreadableError as error:
        raise UserError(f"{path}: it does not list the jobs of a sweep ({error})") from None


def write_index(sweep: Path, jobs: Iterable[IndexJob]) -> None:
    """Replaces the whole index."""
    with locked(sweep):
        _write(sweep, jobs)


def update_index(sweep: Path, jobs: Iterable[IndexJob]) -> None:
    """Replaces or adds the entries of these jobs; those of other jobs stay unchanged."""
    with locked(sweep):
        _write(sweep, {job.key: job for job in (*_read_jobs(sweep), *jobs)}.values())


def append_job(sweep: Path, job: IndexJob) -> None:
    """Appends a job unless the index contains it."""
    with locked(sweep):
        if job.key not in {one.key for one in _read_jobs(sweep)}:
            _write(sweep, [*_read_jobs(sweep), job])


def _read_jobs(sweep: Path) -> list[IndexJob]:
    return read_index(sweep) if (sweep / INDEX).exists() else []


def _write(sweep: Path, jobs: Iterable[IndexJob]) -> None:
    entries = [
        {
            "overrides": job.overrides,
            "directory": os.path.relpath(job.directory, sweep),
            "seeds": list(job.seeds or ()),
            "state": job.state,
        }
        for job in jobs
    ]
    write_json(sweep / INDEX, {"jobs": entries})


def _parse(sweep: Path, entry: dict[str, Any]) -> IndexJob:
    overrides, seeds = entry.get("overrides", []), entry.get("seeds")
    if not (fits(overrides, [str]) and fits(seeds, ([int], None))) or "\0" in entry["directory"]:
        raise UnreadableError("a job should have a path, a list of overrides, a list of seeds")
    place = Path(os.path.normpath(sweep / entry["directory"]))
    state = str(entry.get("state", "unfinished"))
    return IndexJob(overrides, place, tuple(seeds) if seeds else None, state)
