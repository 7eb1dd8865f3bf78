"""One job of a sweep, in any process of a launcher."""

import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from odfl_cli.core.errors import message
from odfl_cli.results.sweeps import IndexJob, append_job
from odfl_cli.runs.job import run_job
from odfl_cli.runs.prepare import PreparedJob
from odfl_cli.runs.sweep.grid import is_grid, sweep_directory
from odfl_cli.runs.sweep.progress import ATTEMPT, Entry, Event, add, journal

PAUSE = 1.0  # seconds between two entries on the progress of a job


def run_sweep_job(
    config: DictConfig, hydra: Any, directory: Path, begin: Callable[[], PreparedJob]
) -> float:
    """Runs the job that `begin` prepares; returns its objective, or the worst value if it failed."""
    sweep, number = sweep_directory(config), int(hydra.job.num)
    file = journal(sweep, os.environ.get(ATTEMPT, "unknown"))
    begun = reported = time.perf_counter()

    def record(event: Event, text: str = "", **more: Any) -> None:
        seconds = time.perf_counter() - begun
        add(file, Entry(number, directory.name, event, seconds, text, **more))

    def progress(rounds: int) -> None:
        nonlocal reported
        if time.perf_counter() - reported > PAUSE:
            reported = time.perf_counter()
            record("playing", played=rounds / prepared.job.horizon.rounds)

    record("started")
    try:
        prepared = begin()
        if not is_grid(str(hydra.sweeper._target_)):
            seeds = prepared.top.seed_list()  # sweepers that choose jobs as they go have no index
            append_job(sweep, IndexJob(prepared.record["overrides"], prepared.directory, seeds))
        outcome = run_job(prepared, progress, tell=lambda line: None)
        value = outcome.objective(prepared.top.objective)
    except Exception as error:
        record("failed", message(error))
        return worst_value(hydra)
    record(outcome.event, outcome.line, remarks=outcome.remarks)
    return worst_value(hydra) if value is None else value


def worst_value(hydra: Any) -> float:
    """The value that a failed job returns to a sweeper."""
    direction = str(OmegaConf.select(hydra, "sweeper.direction", default="minimize"))
    return -math.inf if "maximize" in direction else math.inf


def enter_directory() -> None:
    """Changes to the directory in which the sweep was started, for relative paths; run by Ray."""
    os.chdir(os.environ["ODFL_DIRECTORY"])
