"""A sweep from the check of its jobs to the start of the first one."""

import os
import secrets
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from omegaconf import DictConfig, read_write

from odfl_cli.config.identity import digest
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import make_writable
from odfl_cli.core.text import relative, tell
from odfl_cli.results.ownership import check_sweep_place
from odfl_cli.results.summary import SUMMARY
from odfl_cli.results.sweeps import INDEX, IndexJob, read_index, write_index
from odfl_cli.runs.build import top_level
from odfl_cli.runs.job import skipped
from odfl_cli.runs.prepare import PreparedJob, prepare
from odfl_cli.runs.sweep.end import close_sweep
from odfl_cli.runs.sweep.grid import (
    Cell,
    Compositions,
    add_for_jobs,
    grid_cells,
    sweep_directory,
)
from odfl_cli.runs.sweep.job import result_of
from odfl_cli.runs.sweep.journal import ATTEMPT, Entry, journal, remove_old_journals
from odfl_cli.runs.sweep.local import Local
from odfl_cli.runs.sweep.progress import SweepProgress

PATIENCE = 5.0
"""Seconds between two lines on how many jobs were checked."""
Item = TypeVar("Item")


@dataclass(frozen=True)
class Sweep:
    """A sweep whose jobs may start."""

    directory: Path
    progress: SweepProgress
    jobs: list[IndexJob]  # of a grid; other sweepers add theirs to the index as they go
    waiting: list[Cell]  # those of a grid that are not finished

    def close(self) -> bool:
        """Brings the index up to date and prints what became of the jobs; whether all have results."""
        return close_sweep(self.directory, self.progress.stop(), self.jobs)


@dataclass
class Checked:
    """What the check of a grid found out; no more than that is kept of 1,000 jobs."""

    jobs: list[IndexJob] = field(default_factory=list)
    waiting: list[Cell] = field(default_factory=list)
    finished: dict[str, str] = field(default_factory=dict)  # run → its result
    tuned: dict[str, None] = field(default_factory=dict)  # lines on tuned values

    def add(self, cell: Cell, prepared: PreparedJob) -> None:
        """Adds a job that is not in the grid yet."""
        directory, seeds = prepared.directory, prepared.top.seed_list()
        self.jobs.append(IndexJob(list(cell), directory, seeds).judge(prepared.state))
        self.tuned |= dict.fromkeys(prepared.tuned)
        if prepared.is_settled:
            outcome = skipped(prepared, prepared.state)
            self.finished[directory.name] = result_of(outcome, seeds)
        else:
            self.waiting.append(cell)


def start_grid(config: DictConfig, local: Local | None) -> Sweep:
    """Checks all jobs of a grid, writes the sweep's index and starts its display.

    `local` runs the jobs, if another launcher does not.
    """
    attempt = _check_top(config)
    checked = _check_jobs(config, local)
    _choose_name(config, checked.jobs)
    for line in checked.tuned:
        tell(line)
    directory = _make_directories(config)
    write_index(directory, checked.jobs)
    return _start(config, attempt, directory, len(checked.jobs), checked)


def start_search(config: DictConfig) -> Sweep:
    """The same for a sweeper that chooses its jobs as it goes."""
    attempt = _check_top(config)
    directory = _make_directories(config, Path(config.hydra.sweep.dir, "multirun.yaml"))
    if (directory / INDEX).exists():
        read_index(directory)
    return _start(config, attempt, directory, None, Checked())


def _start(
    config: DictConfig, attempt: str, directory: Path, total: int | None, checked: Checked
) -> Sweep:
    """Names the sweep to its jobs and starts the display, with the jobs that are finished."""
    add_for_jobs(config, f"sweep={config.sweep}")
    progress = SweepProgress(journal(directory, attempt), total)
    for number, (run, result) in enumerate(checked.finished.items(), len(checked.waiting)):
        progress.note(Entry(number, run, "skipped", 0.0, result))
    progress.start()
    return Sweep(directory, progress, checked.jobs, checked.waiting)


def _check_top(config: DictConfig) -> str:
    """Checks what all jobs share; returns the name of this attempt, which they get to know."""
    top_level(config)
    attempt = secrets.token_hex(6)
    add_for_jobs(config, f"+hydra.job.env_set.{ATTEMPT}='{attempt}'")
    return attempt


def _make_directories(config: DictConfig, *files: Path) -> Path:
    sweep = sweep_directory(config)
    check_sweep_place(sweep, *files)
    make_writable(Path(config.hydra.sweep.dir))
    make_writable(sweep)
    remove_old_journals(sweep)
    return sweep


def _check_jobs(config: DictConfig, local: Local | None) -> Checked:
    """The jobs of a grid, or a refusal before the first one starts."""
    compositions = local.compositions if local else Compositions(config)
    identities: dict[Path, set[str]] = defaultdict(set)
    asked: set[tuple[object, ...]] = set()
    found, cells = Checked(), grid_cells(config)
    for cell in reporting(cells):
        job = compositions.job(cell)
        prepared = prepare(job.config, job.config.hydra, job.directory)
        directory, identity = prepared.directory, prepared.record["job"]
        if directory.exists() and not os.access(directory, os.W_OK):
            raise UserError(f"{directory}: cannot write there")
        identities[directory].add(identity)
        same = identity, prepared.top.seed_list(), prepared.top.save_weights
        if same in asked:
            continue
        asked.add(same)
        found.add(cell, prepared)
        if local and not prepared.is_settled:
            local.add(cell, prepared)
    for directory, different in identities.items():
        if len(different) > 1:
            raise UserError(f"{directory}: {len(different)} different jobs would share it")
    if twice := len(cells) - len(found.jobs):
        tell(
            f"{twice} of {len(cells)} jobs {'is' if twice == 1 else 'are'} asked for twice; run once"
        )
    return found


def _choose_name(config: DictConfig, jobs: list[IndexJob]) -> None:
    """Leaves the name of a sweep to the grid that has results under it.

    The same grid, with more jobs or more seeds, may replace its index; another one gets a name of
    its own.
    """
    sweep = sweep_directory(config)
    try:
        known = read_index(sweep) if (sweep / INDEX).exists() else []
    except UserError as error:
        tell(f"{error}; it is written anew")
        return
    asked: dict[Path, set[int]] = defaultdict(set)
    for job in jobs:
        asked[job.directory].update(job.seeds or ())
    lost = [job for job in known if not asked[job.directory] >= set(job.seeds or ())]
    if any((job.directory / SUMMARY).is_file() for job in lost):
        content = sorted((job.directory.name, list(job.seeds or ())) for job in jobs)
        name = f"{config.sweep}-{digest(content)[:6]}"
        tell(f"{relative(sweep)} holds results of another grid; this one is named {name}")
        with read_write(config):
            config.sweep = name


def reporting(items: list[Item]) -> Iterator[Item]:
    """The items; a line on stderr says every few seconds how many of them were checked."""
    reported = time.monotonic()
    for number, item in enumerate(items):
        if time.monotonic() - reported > PATIENCE:
            reported = time.monotonic()
            tell(f"checked {number} of {len(items)} jobs")
        yield item
