"""One job of a sweep: it fails alone, and tells the sweep what became of it."""

import os
import time
from pathlib import Path

from odfl_cli.results.summary import Seeds
from odfl_cli.results.sweeps import IndexJob, append_job
from odfl_cli.runs.console import result_line
from odfl_cli.runs.failures import first_line
from odfl_cli.runs.job import Order, Outcome, run_job
from odfl_cli.runs.sweep.grid import is_grid, sweep_directory
from odfl_cli.runs.sweep.journal import ATTEMPT, Entry, Event, add, journal


def run_sweep_job(order: Order, number: int, sweeper: str) -> float | None:
    """The objective; None where the job failed, which is told in its directory and the journal."""
    sweep = sweep_directory(order.config)
    told_to = journal(sweep, os.environ.get(ATTEMPT, "unknown"))
    begun = time.perf_counter()

    def tell(event: Event, told: str = "") -> None:
        seconds = time.perf_counter() - begun
        add(told_to, Entry(number, order.directory.name, event, seconds, told))

    tell("started")
    try:
        if not is_grid(sweeper):
            _into_index(order, sweep)
        outcome = run_job(order, progress=lambda rounds: None, tell=lambda line: None)
        value = outcome.objective(order.top.objective, order.top.seed_list())
    except Exception as error:
        tell("failed", first_line(error))
        return None
    tell(outcome.event, _told(outcome, order.top.seed_list()))
    return value


def _into_index(order: Order, sweep: Path) -> None:
    """Another sweeper than the grid chooses its jobs as it goes."""
    append_job(sweep, IndexJob(order.overrides, order.directory, order.top.seed_list()))


def _told(outcome: Outcome, seeds: Seeds) -> str:
    result = [result_line(outcome.summary, seeds)] if outcome.summary else []
    return "; ".join([*result, *outcome.notices])
