"""Runs one job and writes its files; finished seeds are not computed again."""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from odfl_cli import __version__
from odfl_cli.core.errors import UserError, without_exits
from odfl_cli.core.files import write_json
from odfl_cli.core.locks import locked
from odfl_cli.core.reading import seal
from odfl_cli.core.statistics import interval
from odfl_cli.core.text import plus_minus
from odfl_cli.metrics.base import with_earlier
from odfl_cli.results.ownership import remove_leftovers
from odfl_cli.results.runs import StoredRun, inspect_files
from odfl_cli.results.summary import (
    FAILURE,
    FORMAT,
    SUMMARY,
    Seeds,
    Summary,
    seed_file,
    state_file,
)
from odfl_cli.runs.prepare import PreparedJob, check_directory, outdated_seeds
from odfl_cli.runs.records import (
    have_columns,
    last_rows,
    note_request,
    summarise,
    write_failure,
    write_seed,
)
from odfl_cli.runs.simulate import simulate
from odfl_cli.runs.states import write_states

log = logging.getLogger("odfl")

IDLE = "the decision was zero in every round, because no other was predicted to pay off"
"""The notice for a run whose decisions were all zero, which is rarely intended."""
FILES = (seed_file, state_file)  # the files of a seed, by name
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Outcome:
    """The result of a job that did not fail."""

    event: Literal["done", "skipped"]
    summary: Summary | None  # None if retry=failed found no results
    notices: list[str]  # lines for the user
    seeds: Seeds  # those asked for

    @property
    def remarks(self) -> tuple[str, ...]:
        """The remarks of the metrics on a computed job, worded so that jobs can be counted by them."""
        found = self.summary.content.get("remarks", ()) if self.summary else ()
        return tuple(map(str, found)) if self.event == "done" else ()

    def objective(self, column: str) -> float | None:
        """The mean final value of a column over the requested seeds; None if one is missing."""
        if self.summary is None or not set(self.seeds) <= set(self.summary.seeds):
            return None
        if column not in self.summary.final:
            raise UserError(f"objective={column}: it has no value after the last round")
        return float(sum(self.summary.finals(column, self.seeds)) / len(self.seeds))

    def average(self, column: str) -> str:
        """The mean final value of a column over the requested seeds, with its interval."""
        return (
            plus_minus(**interval(self.summary.finals(column, self.seeds))) if self.summary else "-"
        )

    @property
    def line(self) -> str:
        """The result for the display of a sweep."""
        result = [f"average cost {self.average('avg_cost')}"] if self.summary else []
        return "; ".join([*result, *self.notices])


def run_job(prepared: PreparedJob, progress: Progress, tell: Callable[[str], None]) -> Outcome:
    """Computes the missing seeds; `tell` is called with lines to print immediately.

    Only one process at a time works in a directory. An error is recorded there and raised.
    """
    directory = prepared.directory

    def wait(holder: str) -> None:
        tell(f"{directory.name}: waiting for {holder}, which works on the same job")

    with locked(directory, wait):
        state = inspect_files(directory)  # another process may have written there since the check
        check_directory(state, prepared.record["job"])
        remove_leftovers(directory)
        try:
            with without_exits():
                return _run(prepared, state, progress)
        except Exception as error:
            log.info("failed", exc_info=True)  # to run.log; the console shows warnings only
            with suppress(OSError):  # a full disk, which is the error to be shown
                write_failure(directory, error, prepared.record)
            raise


def _run(prepared: PreparedJob, state: StoredRun, progress: Progress) -> Outcome:
    top, missing = prepared.top, prepared.missing(state)
    if top.retry == "failed" and state.error is None:
        notice = "retry=failed: it had not failed"
        return Outcome("skipped", state.summary, [notice], top.seed_list())
    if not missing:
        log.info("finished already: nothing to compute")
        (prepared.directory / FAILURE).unlink(missing_ok=True)
        note_request(prepared.directory, prepared.top.seed_list())
        return skipped_outcome(prepared, state)
    notices = _notices(prepared, state)
    for notice in notices:
        log.info(notice)
    summary = Summary.parse(_compute(prepared, state, missing, progress))
    if summary.content.get("idle"):
        notices.append(f"{prepared.directory.name}: {IDLE}")
    return Outcome("done", summary, notices, top.seed_list())


def skipped_outcome(prepared: PreparedJob, state: StoredRun) -> Outcome:
    """The outcome of a job with nothing left to compute."""
    return Outcome("skipped", state.summary, _notices(prepared, state), prepared.top.seed_list())


def _notices(prepared: PreparedJob, state: StoredRun) -> list[str]:
    """Lines about existing results."""
    top, name, notices = prepared.top, state.directory.name, []
    seeds = top.seed_list()
    if state.state == "damaged":
        notices.append(f"{name}: {state.reason}; what is damaged is computed again")
    if state.seeds and not top.force and set(state.versions) != {__version__}:
        notices.append(
            f"{name}: computed by odfl {state.version}, this is {__version__}; "
            "force=true computes it again"
        )
    if not top.force and (old := outdated_seeds(state, prepared.sources)):
        modules = dict.fromkeys(module for changed in old.values() for module in changed)
        notices.append(
            f"{name}: {', '.join(modules)} changed since seeds {', '.join(map(str, old))} were "
            "computed; they are computed again"
        )
    if more := set(state.seeds).difference(seeds):
        notices.append(
            f"{name}: holds {len(more)} more seeds; averages are over the {len(seeds)} asked for"
        )
    return notices


def _compute(
    prepared: PreparedJob, state: StoredRun, missing: list[int], progress: Progress
) -> dict[str, Any]:
    """Simulates the missing seeds and writes their files; returns the new summary.json."""
    begun, directory = time.perf_counter(), prepared.directory
    job = replace(prepared.job, seeds=tuple(missing))
    log.info(
        "%s: %d rounds, computing seeds %s, engine %s",
        prepared.record["choices"]["algo"], job.horizon.rounds, missing, job.engine.name,
    )  # fmt: skip
    past, keep = prepared.read_past(missing), prepared.top.save_state
    simulation = simulate(job, progress=progress, past=past, keep=keep)
    kept = [seed for seed in state.seeds if seed not in missing]
    before = state.summary.content if state.summary else {}
    earlier = state.summary.final if state.summary else {}
    if not have_columns(directory, kept, simulation.table):
        log.info("the files of seeds %s have other columns: computing them again", kept)
        everything = sorted([*kept, *missing])
        return _compute(prepared, replace(state, asked=()), everything, progress)
    writing = time.perf_counter()
    names = {name(seed) for seed in kept for name in FILES}
    files = {name: record for name, record in before.get("files", {}).items() if name in names}
    for row, seed in enumerate(missing):
        written = write_seed(directory, seed, simulation.table, row)
        files[seed_file(seed)] = written | {"sources": prepared.sources}
    if keep:
        files |= write_states(directory, job, simulation)
    done = time.perf_counter()
    seconds = {"wall": done - begun, **simulation.seconds, "write": done - writing}
    joined = replace(
        simulation,
        table=last_rows(simulation.table, missing, earlier, kept),
        report=with_earlier(simulation.report, before, missing, kept),
    )
    summary = seal(
        {
            **prepared.record,
            **summarise(replace(job, seeds=tuple(sorted([*kept, *missing]))), joined, seconds),
            "format": FORMAT,
            "asked": list(prepared.top.seed_list()),  # readers show the seeds of the last request
            "attempt": {"seeds": missing},  # to which `seconds` and reports without seeds refer
            "idle": simulation.idle,
            "files": dict(sorted(files.items())),
        }
    )
    write_json(directory / SUMMARY, summary)
    (directory / FAILURE).unlink(missing_ok=True)
    log.info("finished in %.2f s", seconds["wall"])
    return summary
