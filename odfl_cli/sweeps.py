"""The jobs of a sweep, known before the first one starts."""

from pathlib import Path
from typing import NamedTuple

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, read_write


class SweepJob(NamedTuple):
    """One cell of the grid."""

    overrides: list[str]
    config: DictConfig

    @property
    def directory(self) -> Path:
        """Where the job will write: hydra.sweep.dir/hydra.sweep.subdir."""
        sweep = self.config.hydra.sweep
        return Path(sweep.dir, sweep.subdir).absolute()


def is_grid(sweeper: str) -> bool:
    """Whether the sweeper of this `_target_` knows all its jobs beforehand."""
    return sweeper.endswith(f".{BasicSweeper.__name__}")


def grid_jobs(master: DictConfig) -> list[SweepJob]:
    """All jobs of Hydra's grid sweeper; none where another sweeper chooses them as it goes."""
    if not is_grid(str(master.hydra.sweeper._target_)):
        return []
    loader = GlobalHydra.instance().config_loader()
    params = [f"{key}={value}" for key, value in (master.hydra.sweeper.params or {}).items()]
    parser = OverridesParser.create(config_loader=loader)
    overrides = parser.parse_overrides([*params, *master.hydra.overrides.task])
    (cells,) = BasicSweeper.split_arguments(overrides, max_batch_size=None)
    return [SweepJob(cell, loader.load_sweep_config(master, cell)) for cell in cells]


def sweep_directory(config: DictConfig) -> Path:
    """<outputs>/sweeps/<sweep>."""
    return Path(config.outputs).absolute() / "sweeps" / str(config.sweep)


def tell_jobs_the_name(master: DictConfig) -> None:
    """A job is composed from its own overrides, which do not give the name of its sweep."""
    name = str(master.sweep)
    with read_write(master):
        master.hydra.overrides.hydra.append(f"sweep={name}")
