"""A sweep: checks its jobs before the first one starts and reports on them at the end."""

import os
import secrets
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path

from omegaconf import DictConfig, read_write

from odfl_cli.config.identity import digest, typed_overrides
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import make_writable
from odfl_cli.core.locks import locked
from odfl_cli.core.text import relative, table, tell
from odfl_cli.results.ownership import check_sweep_place
from odfl_cli.results.runs import inspect
from odfl_cli.results.summary import SUMMARY
from odfl_cli.results.sweeps import INDEX, IndexJob, read_index, update_index, write_index
from odfl_cli.runs.build import top_level
from odfl_cli.runs.job import skipped_outcome
from odfl_cli.runs.prepare import PreparedJob, prepare
from odfl_cli.runs.records import note_request
from odfl_cli.runs.sweep.grid import (
    Cell,
    Compositions,
    add_for_jobs,
    grid_cells,
    job_directory,
    sweep_directory,
    varying_words,
)
from odfl_cli.runs.sweep.local import Local
from odfl_cli.runs.sweep.progress import ATTEMPT, Entry, SweepProgress, journal, remove_old_journals

PATIENCE = 5.0  # seconds between two lines on the number of checked jobs
OUTCOMES = ("done", "skipped", "failed", "unfinished")


@dataclass
class Sweep:
    """The jobs of a sweep; it keeps little per job, as there may be thousands."""

    directory: Path = Path()
    jobs: list[IndexJob] = field(default_factory=list)  # of a grid; others are added as they go
    waiting: list[Cell] = field(default_factory=list)  # those of a grid that are not finished
    finished: dict[str, str] = field(default_factory=dict)  # run → its result
    tuned: dict[str, None] = field(default_factory=dict)  # lines on tuned values

    def add(self, cell: Cell, prepared: PreparedJob) -> None:
        """Adds a job that is not in the grid yet."""
        directory, seeds = prepared.directory, prepared.top.seed_list()
        self.jobs.append(IndexJob(list(cell), directory, seeds).judge(prepared.state))
        self.tuned |= dict.fromkeys(prepared.tuned)
        if prepared.is_settled:
            self.finished[directory.name] = skipped_outcome(prepared, prepared.state).line
        else:
            self.waiting.append(cell)

    def start(self, config: DictConfig, attempt: str, brief: bool = False) -> "Sweep":
        """Passes the sweep's name to its jobs and starts the display, with the finished jobs."""
        add_for_jobs(config, f"sweep={config.sweep}")
        words = map(" ".join, varying_words([job.overrides for job in self.jobs]))
        cells = dict(zip((job.directory.name for job in self.jobs), words, strict=True))
        ended = [
            Entry(number, run, "skipped", 0.0, result)
            for number, (run, result) in enumerate(self.finished.items(), len(self.waiting))
        ]
        self.progress = SweepProgress(journal(self.directory, attempt), cells, ended, brief)
        return self

    def close(self, brief: bool = False) -> bool:
        """Updates the index and prints the outcomes of the jobs; returns whether all have results.

        The directories of jobs that did not report a result, such as killed ones, are inspected.
        Jobs of another sweep of the same name stay in the index. `brief`: prints nothing if all
        have results.
        """
        entries = self.progress.stop()
        last = {entry.run: entry for entry in entries.values()}
        rows, jobs, counts = [], [], Counter[str]()
        for before in self.jobs or read_index(self.directory):
            entry = last.get(before.directory.name)
            event = entry.event if entry else None
            found = None
            if event == "done" or (event == "skipped" and before.state == "finished"):
                job = replace(before, state="finished")
            else:
                found = inspect(before.directory)
                job = before.judge(found)
            outcome = "done" if event == "done" else "skipped"
            if "failed" in (job.state, event):
                outcome = "failed"
            elif job.state != "finished":
                outcome = "unfinished"
            if outcome in ("failed", "unfinished"):
                reason = entry.message if entry and event == "failed" else None
                reason = reason or (found and (found.error or found.reason)) or ""
                rows.append([outcome, job.directory.name, reason])
            counts[outcome] += 1
            jobs.append(job)
        update_index(self.directory, jobs)
        if brief and not rows:
            return True
        remarks = Counter(remark for entry in entries.values() for remark in entry.remarks)
        for remark, number in remarks.items():
            tell(f"{number} of {len(jobs)} jobs: {remark}")
        counted = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES)
        noun = "job" if len(jobs) == 1 else "jobs"
        print(f"{len(jobs)} {noun}: {counted}; {relative(self.directory)}")
        if rows:
            print(table([["state", "run", "error"], *rows]))
            print("Tracebacks are in each run.log; the same command computes what is missing.")
        return not rows


def start_grid(
    config: DictConfig, local: Local | None, cells: list[Cell] | None = None, brief: bool = False
) -> Sweep:
    """Checks all jobs of a grid, writes the sweep's index and starts its display.

    `local` runs the jobs, if another launcher does not. `cells` are the jobs, if not those of the
    grid. `brief`: they are shown without a line for each.
    """
    attempt = _check_top(config)
    sweep = _check_jobs(config, local, cells or grid_cells(config))
    others = _choose_name(config, sweep.jobs)
    for line in () if brief else sweep.tuned:
        tell(line)
    sweep.directory = _make_directories(config)
    write_index(sweep.directory, [*others, *sweep.jobs])
    for job in sweep.jobs:
        if job.directory.name in sweep.finished:
            with locked(job.directory):
                note_request(job.directory, job.seeds or ())
    return sweep.start(config, attempt, brief)


def start_search(config: DictConfig) -> Sweep:
    """Starts the sweep of a sweeper that chooses its jobs as it goes."""
    attempt = _check_top(config)
    directory = _make_directories(config, Path(config.hydra.sweep.dir, "multirun.yaml"))
    if (directory / INDEX).exists():
        read_index(directory)
    return Sweep(directory).start(config, attempt)


def _check_top(config: DictConfig) -> str:
    """Checks the keys that all jobs share; returns the name of this attempt, which jobs receive."""
    top_level(config)
    word = f"+hydra.job.env_set.{ATTEMPT}="
    for known in config.hydra.overrides.hydra:
        if known.startswith(word):
            return known.removeprefix(word).strip("'")
    attempt = secrets.token_hex(6)
    add_for_jobs(config, f"{word}'{attempt}'")
    return attempt


def _make_directories(config: DictConfig, *files: Path) -> Path:
    sweep = sweep_directory(config)
    check_sweep_place(sweep, *files)
    _check_index(sweep)
    make_writable(sweep, Path(config.hydra.sweep.dir))
    remove_old_journals(sweep)
    return sweep


def _check_index(sweep: Path) -> None:
    if (sweep / INDEX).is_dir():
        raise UserError(f"{sweep / INDEX}: it is a directory; choose another name with sweep=")


def _check_jobs(config: DictConfig, local: Local | None, cells: list[Cell]) -> Sweep:
    """The checked jobs of a grid; raises a UserError before the first one starts."""
    compositions = local.compositions if local else Compositions(config)
    identities: dict[Path, str] = {}
    asked: set[tuple[object, ...]] = set()
    found, due = Sweep(), time.monotonic() + PATIENCE
    for number, cell in enumerate(cells):
        if time.monotonic() > due:
            tell(f"checked {number} of {len(cells)} jobs")
            due += PATIENCE
        job = compositions.compose(cell)
        prepared = prepare(job, job.hydra, job_directory(job))
        directory, identity, top = prepared.directory, prepared.record["job"], prepared.top
        if directory.exists() and not os.access(directory, os.W_OK):
            raise UserError(f"{directory}: cannot write there")
        if identities.setdefault(directory, identity) != identity:
            raise UserError(f"{directory}: different jobs would share it")
        same = identity, top.seed_list(), top.save_state
        if same in asked:
            continue
        asked.add(same)
        found.add(cell, prepared)
        if local and not prepared.is_settled:
            local.add(cell, prepared)
    if twice := len(cells) - len(found.jobs):
        tell(
            f"{twice} of {len(cells)} jobs {'is' if twice == 1 else 'are'} asked for twice; run once"
        )
    return found


def _choose_name(config: DictConfig, jobs: list[IndexJob]) -> list[IndexJob]:
    """The earlier jobs that a sweep of this name keeps; or renames the sweep and returns none.

    More jobs and more seeds extend a sweep. Fewer seeds of a job with results make another sweep,
    as do other jobs if the name was not typed but is that of an experiment.
    """
    sweep = sweep_directory(config)
    _check_index(sweep)
    try:
        known = read_index(sweep) if (sweep / INDEX).exists() else []
    except UserError as error:
        tell(f"{error}; it is written again")
        return []
    asked: dict[Path, set[int]] = defaultdict(set)
    for job in jobs:
        asked[job.directory].update(job.seeds or ())
    others = [job for job in known if not asked[job.directory] >= set(job.seeds or ())]
    typed = any(word.startswith("sweep=") for word in typed_overrides(config.hydra))
    lost = [job for job in others if not typed or asked[job.directory]]
    if not any((job.directory / SUMMARY).is_file() for job in lost):
        return [job for job in others if job not in lost]
    content = sorted((job.directory.name, list(job.seeds or ())) for job in jobs)
    name = f"{config.sweep}-{digest(content)[:6]}"
    tell(f"{relative(sweep)} has results of another grid; this sweep is named {name}")
    with read_write(config):
        config.sweep = name
    return []
