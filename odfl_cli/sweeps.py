"""The jobs of a sweep, known before the first one starts."""

import os
from pathlib import Path
from typing import Any, NamedTuple

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig

from odfl_cli.files import make_writable, write_json


class SweepJob(NamedTuple):
    """One cell of the grid."""

    overrides: list[str]
    config: DictConfig

    @property
    def directory(self) -> Path:
        """Where the job will write: hydra.sweep.dir/hydra.sweep.subdir."""
        sweep = self.config.hydra.sweep
        return Path(sweep.dir, sweep.subdir).absolute()


def grid_jobs(master: DictConfig) -> list[SweepJob]:
    """All jobs of Hydra's grid sweeper; none where another sweeper chooses them as it goes."""
    if not str(master.hydra.sweeper._target_).endswith(f".{BasicSweeper.__name__}"):
        return []
    loader = GlobalHydra.instance().config_loader()
    params = [f"{key}={value}" for key, value in (master.hydra.sweeper.params or {}).items()]
    parser = OverridesParser.create(config_loader=loader)
    overrides = parser.parse_overrides([*params, *master.hydra.overrides.task])
    (cells,) = BasicSweeper.split_arguments(overrides, max_batch_size=None)
    return [SweepJob(cell, loader.load_sweep_config(master, cell)) for cell in cells]


def write_index(master: DictConfig, jobs: list[SweepJob]) -> None:
    """<outputs>/sweeps/<sweep>/index.json: the overrides and the directory of every job."""
    sweep = Path(master.outputs).absolute() / "sweeps" / str(master.sweep)
    make_writable(sweep)
    entries: list[dict[str, Any]] = [
        {"overrides": job.overrides, "directory": os.path.relpath(job.directory, sweep)}
        for job in jobs
    ]
    write_json(sweep / "index.json", {"jobs": entries})
