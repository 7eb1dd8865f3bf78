"""Jobs of a sweep on this machine: side by side on the cores if they are small, else in turn."""

import gc
import logging
from collections.abc import Sequence
from contextlib import chdir, nullcontext, suppress
from pathlib import Path
from typing import Any

import yaml
from hydra.core.hydra_config import HydraConfig
from hydra.core.utils import JobReturn, JobStatus, configure_log, env_override
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf, open_dict, read_write
from omegaconf._utils import get_omega_conf_dumper

from odfl_cli.core.cores import VARIABLE, allotted_threads
from odfl_cli.core.locks import starting
from odfl_cli.core.processes import Task, side_by_side
from odfl_cli.results.ownership import check_place
from odfl_cli.runs.prepare import JobRequest
from odfl_cli.runs.simulate import Job
from odfl_cli.runs.sweep.grid import Cell, Compositions
from odfl_cli.runs.sweep.job import run_sweep_job

LARGE = 200_000_000
"""Numbers of data from which a job gets all cores: some seconds of drawing and learning."""

COLLECT = 20
"""Jobs after which what they left in memory is collected."""


class Local:
    """Runs jobs from the configurations that were composed for the check."""

    def __init__(
        self, compositions: Compositions, context: HydraContext, task_function: TaskFunction
    ) -> None:
        self.compositions, self._callbacks = compositions, context.callbacks
        self._task = task_function
        self._directories: dict[Cell, Path] = {}
        self._large: set[Cell] = set()
        self._alike: dict[tuple[str, ...], Job] = {}

    def note(self, cell: Cell, directory: Path, job: Job) -> None:
        """What checking one job has found out about how to run it and the others."""
        self._directories[cell] = directory
        self._alike.setdefault(self.compositions.structure(cell), job)
        if job.numbers() >= LARGE:
            self._large.add(cell)

    def run(self, cells: Sequence[Cell], first: int, at_once: int | None) -> dict[int, float]:
        """Number → objective, of the jobs with the numbers from `first` on.

        One that was killed has none. `at_once`: how many small jobs; None: one per core.
        """

        def run_one(number: int) -> float:
            return self._run(cells[number], first + number)

        large = [number for number, cell in enumerate(cells) if cell in self._large]
        small = [number for number, cell in enumerate(cells) if cell not in self._large]
        values = self._side_by_side(small, run_one, at_once)
        values |= {number: run_one(number) for number in large}
        return {first + number: value for number, value in sorted(values.items())}

    def _side_by_side(
        self, small: list[int], run_one: Task, at_once: int | None
    ) -> dict[int, float]:
        threads = allotted_threads()
        workers = min(at_once or threads, len(small))
        gc.freeze()  # what is here stays
        if workers <= 1:
            return {number: run_one(number) for number in small}
        self._load()
        gc.freeze()
        with env_override({VARIABLE: str(max(1, threads // workers))}):
            found = side_by_side(len(small), workers, lambda index: run_one(small[index]))
            return {small[index]: value for index, value in found}

    def _load(self) -> None:
        """What the engines need, once for all copies; what they log belongs to the jobs."""
        logging.disable(logging.INFO)
        try:
            for job in self._alike.values():
                with suppress(Exception):  # which the job itself reports
                    job.engine.start(job.algorithm)
        finally:
            logging.disable(logging.NOTSET)

    def _run(self, cell: Cell, number: int) -> float:
        job = self.compositions.job(cell)
        config, directory = job.config, self._directories.get(cell) or job.directory
        with open_dict(config), read_write(config):
            config.hydra.job.id, config.hydra.job.num = str(number), number
            config.hydra.runtime.output_dir = str(directory)
        HydraConfig.instance().cfg = config  # type: ignore[assignment]  # for ${hydra:…}
        request = JobRequest.of(config, config.hydra, directory)
        with env_override(config.hydra.job.env_set):
            self._callbacks.on_job_start(config=config, task_function=self._task)
            with chdir(directory) if config.hydra.job.chdir else nullcontext():
                value = run_sweep_job(request, config.hydra, lambda: _begin(config, directory))
        ended = job_return(cell, value)
        self._callbacks.on_job_end(config=config, job_return=ended)
        if (number + 1) % COLLECT == 0:
            gc.collect()  # which `odfl run` otherwise does rarely
        return value


def job_return(cell: Cell, value: float) -> JobReturn:
    """The result of a job as Hydra's sweepers take it."""
    ended = JobReturn(overrides=cell, status=JobStatus.COMPLETED)
    ended.return_value = value
    return ended


def _begin(config: DictConfig, directory: Path) -> None:
    """The directory, its log and the files of Hydra, with which every attempt begins."""
    check_place(directory)
    directory.mkdir(parents=True, exist_ok=True)
    configure_log(config.hydra.job_logging, config.hydra.verbose)
    if config.hydra.output_subdir is not None:
        write_hydra_files(config, directory / config.hydra.output_subdir)
    starting.release()


def write_hydra_files(config: DictConfig, folder: Path) -> None:
    """config.yaml, hydra.yaml and overrides.yaml as Hydra writes them, without copies of `config`."""
    folder.mkdir(exist_ok=True)
    values: dict[str, Any] = OmegaConf.to_container(config, enum_to_str=True)  # type: ignore[assignment]
    hydra = {"hydra": values.pop("hydra")}
    parts = {"config": values, "hydra": hydra, "overrides": hydra["hydra"]["overrides"]["task"]}
    for name, part in parts.items():
        text = yaml.dump(part, Dumper=Dumper, allow_unicode=True, sort_keys=False)
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")


class Dumper(getattr(yaml, "CDumper", yaml.Dumper)):  # type: ignore[misc]
    """Writes texts as OmegaConf does, which quotes what it would read as a number; in C."""

    yaml_representers = get_omega_conf_dumper().yaml_representers
