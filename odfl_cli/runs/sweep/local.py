"""Jobs of a sweep on this machine: small ones in parallel, large ones one after another."""

import logging
from collections.abc import Sequence
from contextlib import ExitStack, chdir, suppress
from dataclasses import replace
from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from hydra.core.utils import JobReturn, JobStatus, configure_log, env_override
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf, open_dict, read_write

from odfl_cli.config.identity import typed_overrides
from odfl_cli.core.cores import VARIABLE, allotted_threads
from odfl_cli.core.processes import Task, side_by_side
from odfl_cli.results.ownership import check_place
from odfl_cli.runs.prepare import PreparedJob, prepare
from odfl_cli.runs.sweep.grid import Cell, Compositions, job_directory
from odfl_cli.runs.sweep.job import run_sweep_job

LARGE = 200_000_000
"""The count of numbers from which a job gets all cores: some seconds of drawing and learning."""


class Local:
    """Runs jobs with the configurations and preparations of their check."""

    def __init__(
        self, compositions: Compositions, context: HydraContext, task_function: TaskFunction
    ) -> None:
        self.compositions, self._callbacks = compositions, context.callbacks
        self._task = task_function
        self._prepared: dict[Cell, PreparedJob] = {}

    def add(self, cell: Cell, prepared: PreparedJob) -> None:
        """Stores a prepared job until it runs."""
        self._prepared[cell] = prepared

    def run(self, cells: Sequence[Cell], first: int, at_once: int | None) -> dict[int, float]:
        """Runs jobs, `at_once` small ones in parallel (None: one per core); number from `first` on → objective."""

        def run_one(number: int) -> float:
            return self._run(cells[number], first + number)

        numbers = range(len(cells))
        prepared = map(self._prepared.get, cells)
        large = [n for n, one in enumerate(prepared) if one and one.job.count_numbers() >= LARGE]
        small = [number for number in numbers if number not in large]
        values = self._side_by_side(cells, small, run_one, at_once)
        values |= {number: run_one(number) for number in large}
        return {first + number: value for number, value in sorted(values.items())}

    def _side_by_side(
        self, cells: Sequence[Cell], small: list[int], run_one: Task, at_once: int | None
    ) -> dict[int, float]:
        threads = allotted_threads()
        workers = min(at_once or threads, len(small))
        if workers <= 1:
            return {number: run_one(number) for number in small}
        self._load({self.compositions.structure(cells[number]): cells[number] for number in small})
        with env_override({VARIABLE: str(max(1, threads // workers))}):
            found = side_by_side(len(small), workers, lambda index: run_one(small[index]))
            return {small[index]: value for index, value in found}

    def _load(self, different: dict[tuple[str, ...], Cell]) -> None:
        """Starts the engine of one job of each kind, so that the workers inherit compiled code."""
        logging.disable(logging.INFO)  # what engines log belongs to the jobs
        try:
            for prepared in map(self._prepared.get, different.values()):
                with suppress(Exception):  # the job itself reports it
                    if prepared:
                        prepared.job.engine.start(prepared.job.algorithm)
        finally:
            logging.disable(logging.NOTSET)

    def _run(self, cell: Cell, number: int) -> float:
        prepared, config = self._prepared.pop(cell, None), self.compositions.compose(cell)
        directory = prepared.directory if prepared else job_directory(config)
        runtime = config.hydra.runtime  # has a flag of its own in Hydra 1.4
        with open_dict(config), read_write(config), read_write(runtime):
            config.hydra.job.id, config.hydra.job.num = str(number), number
            runtime.output_dir = str(directory)
        HydraConfig.instance().cfg = config  # type: ignore[assignment]  # for ${hydra:…}

        def begin() -> PreparedJob:
            _write_first_files(config, directory)
            job = prepared or prepare(config, config.hydra, directory)
            if config.hydra.job.chdir:
                inside.enter_context(chdir(directory))
            overrides = typed_overrides(config.hydra)  # the sweep's name is known only now
            return replace(job, config=config, record={**job.record, "overrides": overrides})

        with env_override(config.hydra.job.env_set), ExitStack() as inside:
            self._callbacks.on_job_start(config=config, task_function=self._task)
            value = run_sweep_job(config, config.hydra, directory, begin)
        self._callbacks.on_job_end(config=config, job_return=job_return(cell, value))
        return value


def job_return(cell: Cell, value: float) -> JobReturn:
    """The result of a job for Hydra's sweepers."""
    ended = JobReturn(overrides=cell, status=JobStatus.COMPLETED)
    ended.return_value = value
    return ended


def _write_first_files(config: DictConfig, directory: Path) -> None:
    """Makes the directory, its log and Hydra's files."""
    check_place(directory)
    directory.mkdir(parents=True, exist_ok=True)
    configure_log(config.hydra.job_logging, config.hydra.verbose)
    if config.hydra.output_subdir is None:
        return
    folder = directory / config.hydra.output_subdir
    folder.mkdir(exist_ok=True)
    values = OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"])
    hydra = OmegaConf.masked_copy(config, ["hydra"])
    parts = {"config": values, "hydra": hydra, "overrides": config.hydra.overrides.task}
    for name, part in parts.items():
        OmegaConf.save(part, folder / f"{name}.yaml")
