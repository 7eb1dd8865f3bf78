"""A sweep from the check of its jobs to the table of what became of them."""

import os
import secrets
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from omegaconf import DictConfig

from odfl_cli.config.compose import require_extras
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import make_writable
from odfl_cli.core.text import relative, table, tell
from odfl_cli.results.ownership import check_sweep_place
from odfl_cli.results.runs import StoredRun, inspect
from odfl_cli.results.sweeps import INDEX, IndexJob, read_index, update_index, write_index
from odfl_cli.runs.build import top_level
from odfl_cli.runs.prepare import JobRequest, PreparedJob, keep_for_the_task, prepare
from odfl_cli.runs.sweep.grid import (
    SweepJob,
    add_names_for_jobs,
    check_numbers,
    compose_cells,
    grid_cells,
    is_grid,
    sweep_directory,
)
from odfl_cli.runs.sweep.journal import Entry, journal, remove_old_journals
from odfl_cli.runs.sweep.progress import SweepProgress

PATIENCE = 5.0
"""Seconds between two lines on how many jobs were checked."""
OUTCOMES = ("done", "skipped", "failed", "unfinished")


@dataclass(frozen=True)
class Sweep:
    """A sweep whose jobs may start."""

    directory: Path
    requests: list[JobRequest]
    jobs: list[IndexJob]  # of a grid; other sweepers add theirs to the index as they go
    progress: SweepProgress

    def close(self) -> bool:
        """Brings the index up to date and prints what became of the jobs; whether all have results."""
        return close_sweep(self.directory, self.progress.stop(), self.jobs)


def start_sweep(config: DictConfig) -> Sweep:
    """Checks all jobs of a grid, writes the sweep's index and starts its display."""
    require_extras(config)
    check_numbers(config)
    top_level(config)
    prepared = _checked(config)
    sweep = sweep_directory(config)
    check_sweep_place(sweep, Path(config.hydra.sweep.dir))
    make_writable(Path(config.hydra.sweep.dir))
    make_writable(sweep)
    jobs = [_index_job(job) for job in prepared]
    _start_index(sweep, jobs, is_grid(str(config.hydra.sweeper._target_)))
    attempt = secrets.token_hex(6)
    add_names_for_jobs(config, attempt)
    remove_old_journals(sweep)
    progress = SweepProgress(journal(sweep, attempt), len(prepared) or None)
    progress.start()
    return Sweep(sweep, [job.request for job in prepared], jobs, progress)


def _checked(config: DictConfig) -> list[PreparedJob]:
    """The jobs of a grid, or a refusal before the first one starts."""
    identities: dict[Path, set[str]] = defaultdict(set)
    checked = []
    in_this_process = str(config.hydra.launcher._target_).endswith(".BasicLauncher")
    cells = grid_cells(config)
    for cell in reporting(compose_cells(config, cells), len(cells)):
        request = JobRequest.of(cell.config, cell.config.hydra, cell.directory)
        prepared = prepare(request)
        if request.directory.exists() and not os.access(request.directory, os.W_OK):
            raise UserError(f"{request.directory}: cannot write there")
        if in_this_process:
            keep_for_the_task(prepared)
        identities[request.directory].add(prepared.identity)
        checked.append(prepared)
    for directory, different in identities.items():
        if len(different) > 1:
            raise UserError(f"{directory}: {len(different)} different jobs would share it")
    return checked


def reporting(jobs: Iterable[SweepJob], count: int) -> Iterator[SweepJob]:
    """The jobs; a line on stderr says every few seconds how many of them were checked."""
    told = time.monotonic()
    for number, job in enumerate(jobs):
        if time.monotonic() - told > PATIENCE:
            told = time.monotonic()
            tell(f"checked {number} of {count} jobs")
        yield job


def _start_index(sweep: Path, jobs: list[IndexJob], is_grid: bool) -> None:
    """A grid's index is written anew; other sweepers add to theirs as they go."""
    try:
        if (sweep / INDEX).exists():
            read_index(sweep)
    except UserError as error:
        if not is_grid:
            raise
        tell(f"{error}; it is written anew")
    if is_grid:
        write_index(sweep, jobs)


def _index_job(job: PreparedJob) -> IndexJob:
    request = job.request
    found = IndexJob(request.overrides, request.directory, job.top.seed_list())
    return found.judged(job.state)


def close_sweep(sweep: Path, entries: dict[int, Entry], own: list[IndexJob]) -> bool:
    """Brings the index up to date and prints what became of the jobs; whether all have results.

    `entries` has the last event of the jobs by number. Directories are inspected of jobs that
    did not report their results, such as killed ones. `own` are the jobs of this sweep, all in the
    index where it is empty; those that another sweep of the same name wrote meanwhile stay.
    """
    last = {entry.run: entry for entry in entries.values()}
    rows, jobs, counts = [], [], Counter[str]()
    for before in own or read_index(sweep):
        entry = last.get(before.directory.name)
        job, state = _judged(before, entry)
        outcome = _outcome(job, entry)
        counts[outcome] += 1
        jobs.append(job)
        if outcome in ("failed", "unfinished"):
            rows.append([outcome, job.directory.name, _reason(entry, state)])
    update_index(sweep, jobs)
    counted = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES)
    print(f"{len(jobs)} jobs: {counted}; {relative(sweep)}")
    if rows:
        print(table([["state", "run", "error"], *rows]))
        print("Tracebacks are in each run.log; the same command computes what is missing.")
    return not rows


def _judged(job: IndexJob, entry: Entry | None) -> tuple[IndexJob, StoredRun | None]:
    """The job with its state now; the directory's state where it had to be inspected."""
    if entry and (entry.event == "done" or (entry.event == "skipped" and job.state == "finished")):
        return replace(job, state="finished"), None
    state = inspect(job.directory)
    return job.judged(state), state


def _outcome(job: IndexJob, entry: Entry | None) -> str:
    if job.state == "failed" or (entry and entry.event == "failed"):
        return "failed"
    if job.state != "finished":
        return "unfinished"
    return "done" if entry and entry.event == "done" else "skipped"


def _reason(entry: Entry | None, state: StoredRun | None) -> str:
    if entry and entry.event == "failed":
        return entry.message
    return (state and (state.error or state.reason)) or ""
