"""A job before it runs: everything that can be checked without writing."""

import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from odfl_cli.config.compose import tuned_values
from odfl_cli.config.identity import identity, resolve, typed_overrides
from odfl_cli.config.schema import TopLevel
from odfl_cli.config.sources import sources
from odfl_cli.core.cores import allotted_threads
from odfl_cli.core.errors import UserError
from odfl_cli.core.text import assignments
from odfl_cli.results.command import repeating_words
from odfl_cli.results.ownership import check_place
from odfl_cli.results.runs import StoredRun, inspect
from odfl_cli.runs.build import build, check_objective, fill_sizes, top_level, with_seeds
from odfl_cli.runs.simulate import Job
from odfl_cli.runs.weights import check_has_weights


@dataclass(frozen=True)
class PreparedJob:
    """A job that passed all checks: directory inspected, parts built if they are needed."""

    config: DictConfig
    directory: Path
    record: dict[str, Any]  # what summary.json and failed.json say whatever the result
    tuned: list[str]  # lines on the values that conf/tuned set
    top: TopLevel
    state: StoredRun
    built: Job | None = None  # None where nothing is left to compute

    @property
    def job(self) -> Job:
        """The parts, built now if the job was settled when it was prepared."""
        return self.built or build(self.config)

    @cached_property
    def sources(self) -> dict[str, str]:
        """The checksum of every module of the user's that the job may run."""
        return sources(self.record["config"])

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to compute, judged by the directory as it was inspected."""
        summary = self.state.summary
        has_objective = summary is not None and self.top.objective in summary.final
        return self.state.state == "finished" and has_objective and not self.missing(self.state)

    def missing(self, state: StoredRun) -> list[int]:
        """The seeds to compute: those asked for that are not there, damaged ones, outdated ones."""
        there = set(state.seeds) - set(outdated(state, self.sources))
        if self.top.save_weights:
            there = {seed for seed in there if state.has_weights(seed)}
        asked = [seed for seed in self.top.seed_list() if self.top.force or seed not in there]
        return sorted({*asked, *(seed for seed in state.listed if seed not in there)})

    def recorded_config(self) -> dict[str, Any]:
        """The values, with what a file of rounds turned out to have."""
        filled = fill_sizes(self.config, self.job.environment)
        return self.record["config"] if filled is self.config else resolve(filled)


def prepare(config: DictConfig, hydra: Any, directory: Path) -> PreparedJob:
    """Checks the whole job and writes nothing; a UserError says what is wrong.

    `hydra` is the node of that name of the composed configuration.
    """
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
    job = build(config)
    check_objective(top.objective, job)
    if top.save_weights:
        check_has_weights(job, "save_weights=true")
    return replace(prepared, built=job)


def _describe(config: DictConfig, hydra: Any, tuned: list[str]) -> dict[str, Any]:
    """The job's identity, choices and values, and the arguments of `odfl run` that repeat it."""
    groups = {str(k): v for k, v in hydra.runtime.choices.items() if not k.startswith("hydra/")}
    values, overrides = resolve(config), typed_overrides(hydra)
    sources = hydra.runtime.config_sources
    folders = [os.path.relpath(one.path) for one in sources if one.provider == "command-line"]
    return {
        "job": identity(values),
        "choices": {group: str(choice) for group, choice in groups.items() if choice},
        "tuned": tuned,
        "config": values,
        "overrides": overrides,
        "command": repeating_words(overrides, folders),
    }


def _tuned_lines(algo: str, tuned: dict[str, dict[str, Any]]) -> list[str]:
    """What each choice of conf/tuned has set, in words."""
    return [
        f"{algo} is tuned for {choice.partition('=')[2].removeprefix(f'{algo}_')}: "
        f"{assignments(values)}"
        for choice, values in tuned.items()
    ]


def outdated(state: StoredRun, sources: dict[str, str]) -> dict[int, list[str]]:
    """Seed → the modules that were others when it was computed; only seeds that have such."""
    changed = {seed: state.changed_modules(seed, sources) for seed in state.listed}
    return {seed: modules for seed, modules in changed.items() if modules}


def check_directory(state: StoredRun, job: str) -> None:
    """Refuses to mix results with those of another configuration or of a newer version."""
    if state.state == "newer":
        raise UserError(f"{state.directory}: {state.reason}; choose other outputs or update odfl")
    if state.summary is None:
        return
    if (state.summary.content.get("job") or identity(dict(state.config))) != job:
        raise UserError(
            f"{state.directory}: it holds results of another configuration; choose another directory"
        )
