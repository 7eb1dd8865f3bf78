"""Checks a job before it runs, without writing anything."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.config.compose import tuned_values
from odfl_cli.config.identity import identity, resolve, typed_overrides
from odfl_cli.config.schema import TopLevel
from odfl_cli.config.sources import sources
from odfl_cli.core.cores import allotted_threads
from odfl_cli.core.errors import UserError
from odfl_cli.core.text import age, assignments
from odfl_cli.environments.base import known_law
from odfl_cli.environments.look import look
from odfl_cli.results.ownership import check_place
from odfl_cli.results.runs import StoredRun, inspect, repeating_words
from odfl_cli.results.summary import state_file
from odfl_cli.runs.build import build, check_objective, top_level, with_seeds
from odfl_cli.runs.simulate import Job, Past
from odfl_cli.runs.states import read_past

LOOKED_AT = 200  # the number of rounds that are examined before a run starts
IDLE = (
    "no cost is negative, so that the decision w = 0 is best: what is worth choosing has a cost below 0, "
    "as with data=polynomial data.maximise=true"
)
STEP_SECONDS, ARRAY_SECONDS, LONG = 5e-7, 3e-5, 120.0
"""The least time of a gradient step for each seed and start, and of one on arrays for all of them;
the time from which a run gets a line beforehand."""


@dataclass(frozen=True)
class PreparedJob:
    """A job that passed all checks: its directory is inspected, its parts are built if needed."""

    config: DictConfig
    directory: Path
    record: dict[str, Any]  # entries of summary.json and failed.json
    tuned: list[str]  # lines on the values that conf/tuned set, and on the data
    top: TopLevel
    state: StoredRun
    built: Job | None = None  # None if nothing is left to compute

    @property
    def job(self) -> Job:
        """The job with its parts, built now if they were not needed before."""
        return self.built or replace(build(self.config), choices=self.record["choices"])

    @cached_property
    def sources(self) -> dict[str, str]:
        """The checksum of every user's module that the job may run."""
        return sources(self.record["config"])

    @property
    def is_settled(self) -> bool:
        """True if nothing was left to compute when the directory was inspected."""
        summary = self.state.summary
        has_objective = summary is not None and self.top.objective in summary.final
        return self.state.state == "finished" and has_objective and not self.missing(self.state)

    def missing(self, state: StoredRun) -> list[int]:
        """The seeds to compute: missing, damaged and outdated ones."""
        there = set(state.seeds) - set(outdated_seeds(state, self.sources))
        if self.top.save_state:
            there = {seed for seed in there if state.has_file(state_file(seed))}
        asked = [seed for seed in self.top.seed_list() if self.top.force or seed not in there]
        return sorted({*asked, *(seed for seed in state.listed if seed not in there)})

    def read_past(self, seeds: Sequence[int]) -> Past | None:
        """The rounds of these seeds in the run of `continue`; None without one."""
        if self.top.continued is None:
            return None
        job, outputs = replace(self.job, seeds=tuple(seeds)), Path(self.top.outputs)
        return read_past(self.top.continued, outputs, job)


def prepare(config: DictConfig, hydra: Any, directory: Path) -> PreparedJob:
    """Checks a job without writing anything; `hydra` is the node of its configuration."""
    directory, top = directory.absolute(), top_level(with_seeds(config))
    tuned = tuned_values(config, hydra)
    record = _describe(config, hydra, list(tuned))
    allotted_threads()  # refuses what is not a number of threads
    check_place(directory, top.seed_list(), hydra.output_subdir)
    state = inspect(directory)
    check_directory(state, record["job"])
    lines = _tuned_lines(record["choices"]["algo"], tuned)
    prepared = PreparedJob(config, directory, record, lines, top, state)
    if prepared.is_settled:
        return prepared
    job = replace(build(config), choices=record["choices"])
    check_objective(top.objective, job)
    lines = [*lines, *_unused(job, record["overrides"]), *_estimate(job), *remarks(job)]
    prepared = replace(prepared, built=job, tuned=lines)
    prepared.read_past(prepared.missing(state))
    return prepared


def unused_keys(algorithm: Any) -> set[str]:
    """The step sizes that the algorithm does not use because its steps adapt."""
    return {"algo.eta", "algo.c_eta"} if getattr(algorithm, "adaptive", False) else set()


def _unused(job: Job, typed: Sequence[str]) -> list[str]:
    """A line about a step size that was typed, where steps adapt."""
    keys = unused_keys(job.algorithm) & {word.lstrip("+").partition("=")[0] for word in typed}
    return [f"{key}: steps adapt without it; algo.step=scheduled uses it" for key in sorted(keys)]


def _estimate(job: Job) -> list[str]:
    """A line about an oracle that takes minutes at least."""
    oracle, calls = job.algorithm.problem.oracle, type(job.algorithm).oracle_call
    steps = getattr(oracle, "steps", 0) * -(-job.horizon.rounds // oracle.every)
    together = (1 + oracle.restarts) * len(job.seeds)
    floor = 0.0 if job.engine.name == "compiled" else ARRAY_SECONDS
    seconds = steps * max(together * STEP_SECONDS, floor)
    if calls is Algorithm.oracle_call or seconds < LONG:
        return []
    most = f"up to {steps * together:.1e} gradient steps"
    return [f"oracle: {most}, which take at least {age(seconds)}; oracle.steps and every set them"]


def remarks(job: Job) -> list[str]:
    """Remarks on the first rounds for learners; more if their law is unknown."""
    environment, problem = job.environment, job.algorithm.problem
    learns = type(job.algorithm).update is not Algorithm.update
    usual = problem.offers_all and len(problem.shape) == 2
    answers = hasattr(environment, "blank")  # to decisions: its rounds cannot be drawn
    known, polytope = known_law(environment), problem.polytope
    if answers or not learns or not usual or (known and polytope.constant_sum):
        return []
    X, costs = environment.rounds(job.seeds[:1], 0, min(LOOKED_AT, job.horizon.rounds))[:2]
    cheap = hasattr(polytope, "faces") and (costs >= 0).all()
    found = [IDLE] if cheap and not polytope.minimise(costs[0, :1]).any() else []
    if not known:
        count = problem.predictor.parameter_count
        shared = hasattr(problem.predictor, "design") and count(3, 2) == count(2, 2)
        seen = problem.learning_target(costs[0], X[0])
        columns = problem.feature_names[: X.shape[-1] - getattr(environment, "intercept", 0)]
        found += look(X[0], seen, columns, shared, problem.auto_radius)
    return [f"data: {remark}" for remark in found]


def _describe(config: DictConfig, hydra: Any, tuned: list[str]) -> dict[str, Any]:
    """The job's identity, choices and values, and the arguments of `odfl run` that repeat it."""
    values, overrides = resolve(config), typed_overrides(hydra)
    sources = hydra.runtime.config_sources
    folders = [os.path.relpath(one.path) for one in sources if one.provider == "command-line"]
    return {
        "job": identity(values),
        "choices": find_choices(hydra),
        "tuned": tuned,
        "config": values,
        "overrides": overrides,
        "command": repeating_words(overrides, folders),
    }


def find_choices(hydra: Any) -> dict[str, str]:
    """Group → choice, for groups that users choose from and groups of conf/tuned."""
    left_out = ("hydra/", "tuned/inside")
    groups = {str(k): v for k, v in hydra.runtime.choices.items() if not k.startswith(left_out)}
    return {group: str(choice) for group, choice in groups.items() if choice}


def _tuned_lines(algo: str, tuned: dict[str, dict[str, Any]]) -> list[str]:
    """Lines about the values that each choice of conf/tuned has set."""
    return [
        f"{algo} is tuned for {choice.partition('=')[2].removeprefix(f'{algo}_')}: "
        f"{assignments(values)}"
        for choice, values in tuned.items()
    ]


def outdated_seeds(state: StoredRun, sources: dict[str, str]) -> dict[int, list[str]]:
    """Seed → the modules that have changed since it was computed; only seeds with changed modules."""
    changed = {seed: state.changed_modules(seed, sources) for seed in state.listed}
    return {seed: modules for seed, modules in changed.items() if modules}


def check_directory(state: StoredRun, job: str) -> None:
    """Raises if the directory has results of another configuration or of a newer version."""
    if state.state == "newer":
        raise UserError(f"{state.directory}: {state.reason}; choose other outputs or update odfl")
    if state.summary is None:
        return
    if (state.summary.content.get("job") or identity(dict(state.config))) != job:
        raise UserError(
            f"{state.directory}: it holds results of another configuration; choose another directory"
        )
