"""One job from its configuration to its files, never computed twice."""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from omegaconf import DictConfig

from odfl_cli import __version__
from odfl_cli.config.identity import identity, resolved, sources
from odfl_cli.config.schema import TopLevel
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import write_json
from odfl_cli.core.locks import locked
from odfl_cli.metrics.base import with_earlier
from odfl_cli.results.ownership import UNLISTED, note_unlisted, remove_leftovers
from odfl_cli.results.run_state import FAILURE, FORMAT, SUMMARY, RunState, inspect_files, seed_file
from odfl_cli.runs.build import build, sized, top_level
from odfl_cli.runs.failures import write_failure
from odfl_cli.runs.records import columns, last_rows, write_seed
from odfl_cli.runs.simulate import Job, Simulation, simulate
from odfl_cli.runs.summary import summarise

log = logging.getLogger("odfl")

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Order:
    """What is to be run: the configuration, how it was chosen, and where its files go."""

    config: DictConfig
    choices: dict[str, str]  # group → choice
    overrides: list[str]  # as typed
    directory: Path

    @property
    def values(self) -> dict[str, Any]:
        """The configuration as plain values."""
        return resolved(self.config)

    @property
    def top(self) -> TopLevel:
        """The keys beside the groups."""
        return top_level(self.config)


@dataclass(frozen=True)
class Outcome:
    """What became of a job that did not fail."""

    event: Literal["done", "skipped"]
    summary: dict[str, Any] | None  # of what is there; retry=failed may find nothing
    seconds: float
    notices: list[str]  # lines for the user

    def objective(self, column: str, seeds: tuple[int, ...]) -> float | None:
        """The mean final value of a column over the seeds asked for; None where they are not there."""
        if self.summary is None or not set(seeds) <= set(self.summary["seeds"]):
            return None
        if column not in self.summary["final"]:
            raise UserError(f"objective={column}: it has no value after the last round")
        per_seed = self.summary["final"][column]["per_seed"]
        final = dict(zip(self.summary["seeds"], per_seed, strict=True))
        return float(sum(final[seed] for seed in seeds) / len(seeds))


def run_job(order: Order, progress: Progress, tell: Callable[[str], None]) -> Outcome:
    """Computes the seeds that are missing; `tell` hears what cannot wait until the end.

    Only one process at a time works in a directory; what goes wrong is written down there.
    """
    begun = time.perf_counter()

    def wait(holder: str) -> None:
        tell(f"{order.directory.name}: waiting for {holder}, which works on the same job")

    with locked(order.directory, wait):
        state = inspect_files(order.directory)
        check_directory(state, order.values)
        remove_leftovers(order.directory)
        try:
            return _run(order, state, progress, begun)
        except Exception as error:
            log.info("failed", exc_info=True)  # to run.log; the console shows warnings only
            with suppress(OSError):  # a full disk, which is the error to be told
                write_failure(order.directory, error, order.values, order.choices, order.overrides)
            raise


def check_directory(state: RunState, config: dict[str, Any]) -> None:
    """Refuses to mix results with those of another configuration or of a newer version."""
    if state.state == "newer":
        raise UserError(f"{state.directory}: {state.reason}; choose other outputs or update odfl")
    if state.summary is None:
        return
    there = state.summary.get("job") or identity(state.summary.get("config") or {})
    if there != identity(config):
        raise UserError(
            f"{state.directory}: it holds results of another configuration; choose another directory"
        )


def _run(order: Order, state: RunState, progress: Progress, begun: float) -> Outcome:
    top = order.top
    notices = _about(state, top, sources(order.values))
    for notice in notices:
        log.info(notice)
    if top.retry == "failed" and state.error is None:
        return Outcome("skipped", state.summary, 0.0, ["retry=failed: it had not failed"])
    missing = [seed for seed in state.listed if seed not in state.seeds]
    missing += [seed for seed in top.seed_list() if top.force or seed not in state.seeds]
    if not missing:
        log.info("finished already: nothing to compute")
        (order.directory / FAILURE).unlink(missing_ok=True)
        return Outcome("skipped", state.summary, time.perf_counter() - begun, notices)
    summary = _compute(order, state, sorted(set(missing)), progress)
    return Outcome("done", summary, time.perf_counter() - begun, notices)


def _about(state: RunState, top: TopLevel, code: dict[str, str]) -> list[str]:
    """What a user should know before results that are there are used."""
    name, seeds, notices = state.directory.name, top.seed_list(), []
    if state.state == "damaged":
        notices.append(f"{name}: {state.reason}; what is damaged is computed again")
    if state.seeds and not top.force and set(state.versions) != {__version__}:
        notices.append(
            f"{name}: computed by odfl {state.version}, this is {__version__}; "
            "force=true computes it again"
        )
    before = (state.summary or {}).get("sources") or {}
    changed = sorted(module for module, _ in set(code.items()) ^ set(before.items()))
    if state.seeds and not top.force and changed:
        notices.append(
            f"{name}: computed with another version of {', '.join(dict.fromkeys(changed))}; "
            "force=true computes it again"
        )
    if set(seeds) < set(state.seeds):
        notices.append(
            f"{name}: holds {len(state.seeds)} seeds, {len(seeds)} were asked for; "
            "the figures are over all of them"
        )
    return notices


def _compute(
    order: Order, state: RunState, missing: list[int], progress: Progress
) -> dict[str, Any]:
    begun = time.perf_counter()
    job = replace(build(order.config), seeds=tuple(missing))
    log.info(
        "%s: %d rounds, computing seeds %s, engine %s",
        order.choices["algo"], job.horizon.rounds, missing, job.engine.name,
    )  # fmt: skip
    simulation = simulate(job, progress=progress)
    kept = [seed for seed in state.seeds if seed not in missing]
    if kept and columns(order.directory, kept) != {tuple(simulation.table)}:
        log.info("the files of seeds %s have other columns: computing them again", kept)
        everything = sorted([*kept, *missing])
        return _compute(order, replace(state, seeds=()), everything, progress)
    writing = time.perf_counter()
    files = {seed_file(seed): (state.summary or {})["files"][seed_file(seed)] for seed in kept}
    note_unlisted(order.directory, map(seed_file, missing))
    for row, seed in enumerate(missing):
        files[seed_file(seed)] = write_seed(order.directory, seed, simulation.table, row)
    done = time.perf_counter()
    seconds = {"wall": done - begun, **simulation.seconds, "write": done - writing}
    report = with_earlier(simulation.report, state.summary, missing, kept)
    joined = replace(simulation, report=report)
    summary = _summary(order, job, joined, sorted([*kept, *missing]), seconds) | {
        "format": FORMAT,
        "attempt": {"seeds": missing},  # whose are the seconds, and what no seed has of its own
        "job": identity(order.values),
        "overrides": order.overrides,
        "sources": sources(order.values),
        "files": dict(sorted(files.items())),
    }
    write_json(order.directory / SUMMARY, summary)
    (order.directory / UNLISTED).unlink(missing_ok=True)
    (order.directory / FAILURE).unlink(missing_ok=True)
    log.info("finished in %.2f s", seconds["wall"])
    return summary


def _summary(
    order: Order, job: Job, simulation: Simulation, seeds: list[int], seconds: dict[str, float]
) -> dict[str, Any]:
    """Over all seeds of the directory, from the last line of each CSV."""
    everything = replace(job, seeds=tuple(seeds))
    last = replace(simulation, table=last_rows(order.directory, seeds))
    config = resolved(sized(order.config, job.environment)) | {"seeds": seeds}
    return summarise(everything, last, order.choices, config, seconds)
