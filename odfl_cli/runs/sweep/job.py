"""One job of a sweep, in whatever process a launcher runs it."""

import os
import time
from pathlib import Path

from odfl_cli.core.errors import message
from odfl_cli.results.summary import Seeds
from odfl_cli.results.sweeps import IndexJob, append_job
from odfl_cli.runs.console import result_line
from odfl_cli.runs.job import Outcome, run_job
from odfl_cli.runs.prepare import JobRequest, PreparedJob, prepared_job
from odfl_cli.runs.sweep.grid import is_grid, sweep_directory
from odfl_cli.runs.sweep.journal import ATTEMPT, Entry, Event, add, journal


def run_sweep_job(request: JobRequest, number: int, sweeper: str) -> float | None:
    """The objective; None where the job failed, which its directory and the journal record."""
    sweep = sweep_directory(request.config)
    file = journal(sweep, os.environ.get(ATTEMPT, "unknown"))
    begun = time.perf_counter()

    def record(event: Event, text: str = "") -> None:
        seconds = time.perf_counter() - begun
        add(file, Entry(number, request.directory.name, event, seconds, text))

    record("started")
    try:
        prepared = prepared_job(request)
        if not is_grid(sweeper):
            _add_to_index(prepared, sweep)
        outcome = run_job(prepared, progress=lambda rounds: None, tell=lambda line: None)
        value = outcome.objective(prepared.top.objective, prepared.top.seed_list())
    except Exception as error:
        record("failed", message(error))
        return None
    record(outcome.event, _result(outcome, prepared.top.seed_list()))
    return value


def enter_directory() -> None:
    """Changes to the directory in which the sweep was started, for relative paths; run by Ray."""
    os.chdir(os.environ["ODFL_DIRECTORY"])


def _add_to_index(prepared: PreparedJob, sweep: Path) -> None:
    """For sweepers other than the grid, which choose their jobs as they go."""
    request = prepared.request
    append_job(sweep, IndexJob(request.overrides, request.directory, prepared.top.seed_list()))


def _result(outcome: Outcome, seeds: Seeds) -> str:
    result = [result_line(outcome.summary, seeds)] if outcome.summary else []
    return "; ".join([*result, *outcome.notices])
