"""index.json of a sweep: its jobs, where they are, and how they stood when the sweep last ended."""

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
from odfl_cli.results.summary import is_list_of

INDEX = "index.json"


@dataclass(frozen=True)
class IndexJob:
    """One job of a sweep. `seeds` is None in an index that does not name them: all there are."""

    overrides: list[str]
    directory: Path
    seeds: tuple[int, ...] | None = None
    state: str = "unfinished"

    def judge(self, found: StoredRun) -> "IndexJob":
        """The same job with the state its directory has, for the seeds it asks for."""
        whole = self.seeds is not None and found.covers(self.seeds)
        return replace(self, state="finished" if whole else found.state)


def read_index(sweep: Path) -> list[IndexJob]:
    """The jobs of a sweep's directory, or a UserError of one line."""
    path = sweep / INDEX
    try:
        jobs: Any = read_json(path).get("jobs")
        if not is_list_of(dict, jobs):
            raise UnreadableError("jobs should be a list of mappings")
        return [_job(sweep, entry) for entry in jobs]
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file") from None
    except UnreadableError as error:
        raise UserError(f"{path}: it does not list the jobs of a sweep ({error})") from None


def write_index(sweep: Path, jobs: Iterable[IndexJob]) -> None:
    """The whole index, at once."""
    with locked(sweep):
        _write(sweep, jobs)


def update_index(sweep: Path, jobs: list[IndexJob]) -> None:
    """Replaces the entries of these jobs or adds them; those of other jobs stay as they are."""
    with locked(sweep):
        known = read_index(sweep) if (sweep / INDEX).exists() else []
        own = {_key(job) for job in jobs}
        others = [job for job in known if _key(job) not in own]
        _write(sweep, [*jobs, *others])


def append_job(sweep: Path, job: IndexJob) -> None:
    """Adds a job that was not known before it ran; one that is there already stays as it is."""
    with locked(sweep):
        jobs = read_index(sweep) if (sweep / INDEX).exists() else []
        if _key(job) not in map(_key, jobs):
            _write(sweep, [*jobs, job])


def _write(sweep: Path, jobs: Iterable[IndexJob]) -> None:
    entries: list[dict[str, Any]] = [
        {
            "overrides": job.overrides,
            "directory": os.path.relpath(job.directory, sweep),
            "seeds": list(job.seeds or ()),
            "state": job.state,
        }
        for job in jobs
    ]
    write_json(sweep / INDEX, {"jobs": entries})


def _job(sweep: Path, entry: dict[str, Any]) -> IndexJob:
    overrides, seeds = entry.get("overrides", []), entry.get("seeds")
    directory = entry.get("directory")
    if not isinstance(directory, str) or "\0" in directory:
        raise UnreadableError("directory should be a path")
    if not is_list_of(str, overrides):
        raise UnreadableError("overrides should be a list of texts")
    if seeds is not None and not is_list_of(int, seeds):
        raise UnreadableError("seeds should be a list of whole numbers")
    state = str(entry.get("state", "unfinished"))
    place = Path(os.path.normpath(sweep / directory))
    return IndexJob(overrides, place, tuple(seeds) if seeds else None, state)


def _key(job: IndexJob) -> tuple[str, tuple[int, ...] | None]:
    """What identifies a job of a sweep: its directory and its seeds."""
    return os.path.abspath(job.directory), job.seeds
