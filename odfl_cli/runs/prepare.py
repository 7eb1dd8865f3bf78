"""A job before it runs: what is asked for, and everything that can be checked without writing."""

import os
from contextlib import suppress
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
from odfl_cli.results.runs import StoredRun, inspect, inspect_files
from odfl_cli.results.summary import FAILURE, SUMMARY
from odfl_cli.runs.build import build, check_objective, fill_sizes, top_level, with_seeds
from odfl_cli.runs.simulate import Job
from odfl_cli.runs.weights import check_has_weights


@dataclass(frozen=True)
class JobRequest:
    """What is to be run: the configuration, how it was chosen, and where its files go."""

    config: DictConfig
    choices: dict[str, str]  # group → choice
    overrides: list[str]  # as typed
    command: list[str]  # the arguments of `odfl run` that repeat it, without the seeds
    directory: Path
    hydra_folder: str | None  # where Hydra keeps the composed configuration
    tuned: dict[str, dict[str, Any]]  # choice of conf/tuned → the values it sets

    @classmethod
    def of(cls, config: DictConfig, hydra: Any, directory: Path) -> "JobRequest":
        """From a composed configuration and its node `hydra`."""
        groups = {str(k): v for k, v in hydra.runtime.choices.items() if not k.startswith("hydra/")}
        return cls(
            config=config,
            choices={group: str(choice) for group, choice in groups.items() if choice},
            overrides=(overrides := typed_overrides(hydra)),
            command=repeating_words(overrides, _own_config_directories(hydra)),
            directory=directory.absolute(),
            hydra_folder=hydra.output_subdir,
            tuned=tuned_values(config, hydra),
        )

    def tuned_lines(self) -> list[str]:
        """For every choice of conf/tuned that set values of the job, what it set."""
        algo = self.choices["algo"]
        return [
            f"{algo} is tuned for {choice.partition('=')[2].removeprefix(f'{algo}_')}: "
            f"{assignments(values)}"
            for choice, values in self.tuned.items()
        ]


@dataclass(frozen=True)
class PreparedJob:
    """A job that passed all checks: values resolved, directory inspected, parts built if needed."""

    request: JobRequest
    values: dict[str, Any]  # the configuration as plain values
    identity: str
    top: TopLevel
    state: StoredRun
    stamp: tuple[Any, ...]  # of the directory's records when it was inspected
    built: Job | None = None  # None where nothing is left to compute

    @property
    def job(self) -> Job:
        """The parts; built now if the job was settled when it was prepared."""
        return self.built or build(self.request.config)

    @cached_property
    def sources(self) -> dict[str, str]:
        """The checksum of every module of the user's that the job may run."""
        return sources(self.values)

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

    def current_state(self) -> StoredRun:
        """The state of the directory; inspected again if another process has written there since."""
        if self.state.state != "running" and self.stamp == _stamp(self.request.directory):
            return self.state
        state = inspect_files(self.request.directory)
        check_directory(state, self.identity)
        return state

    def describe(self) -> dict[str, Any]:
        """What summary.json and failed.json say about the job, whatever its result."""
        return {
            "job": self.identity,
            "choices": self.request.choices,
            "tuned": list(self.request.tuned),
            "config": self.values,
            "overrides": self.request.overrides,
            "command": self.request.command,
        }

    def recorded_config(self) -> dict[str, Any]:
        """The values, with what a file of rounds turned out to have."""
        config = self.request.config
        filled = fill_sizes(config, self.job.environment)
        return self.values if filled is config else resolve(filled)


def _own_config_directories(hydra: Any) -> list[str]:
    sources = hydra.runtime.config_sources
    return [os.path.relpath(one.path) for one in sources if one.provider == "command-line"]


def prepare(request: JobRequest) -> PreparedJob:
    """Checks the whole job and writes nothing; a UserError says what is wrong."""
    config, directory = request.config, request.directory
    top, values = top_level(with_seeds(config)), resolve(config)
    allotted_threads()  # refuses what is not a number of threads
    check_place(directory, top.seed_list(), request.hydra_folder)
    name, stamp = identity(values), _stamp(directory)
    state = inspect(directory)
    check_directory(state, name)
    prepared = PreparedJob(request, values, name, top, state, stamp)
    if prepared.is_settled:
        return prepared
    job = build(config)
    check_objective(top.objective, job)
    if top.save_weights:
        check_has_weights(job, "save_weights=true")
    return replace(prepared, built=job)


def outdated(state: StoredRun, sources: dict[str, str]) -> dict[int, list[str]]:
    """Seed → the modules that were others when it was computed; only seeds that have such."""
    changed = {seed: state.changed_modules(seed, sources) for seed in state.listed}
    return {seed: modules for seed, modules in changed.items() if modules}


def _stamp(directory: Path) -> tuple[Any, ...]:
    """Changes with every attempt that ends, for records are replaced as whole files."""
    found = []
    for name in (SUMMARY, FAILURE):
        with suppress(OSError):
            status = (directory / name).stat()
            found.append((name, status.st_ino, status.st_mtime_ns))
    return tuple(found)


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
