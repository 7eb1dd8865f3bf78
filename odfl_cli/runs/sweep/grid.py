"""The jobs of a sweep, known before the first one starts."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, OverrideType
from omegaconf import DictConfig, OmegaConf, open_dict, read_write

from odfl_cli.config.identity import typed_overrides
from odfl_cli.core.errors import UserError
from odfl_cli.runs.sweep.journal import ATTEMPT


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


def grid_cells(master: DictConfig) -> list[list[str]]:
    """The overrides of all jobs of Hydra's grid sweeper; none where another sweeper chooses them."""
    if not is_grid(str(master.hydra.sweeper._target_)):
        return []
    loader = GlobalHydra.instance().config_loader()
    params = [f"{key}={value}" for key, value in (master.hydra.sweeper.params or {}).items()]
    parser = OverridesParser.create(config_loader=loader)
    overrides = parser.parse_overrides([*params, *typed_overrides(master.hydra)])
    _check_count(overrides, master.most_jobs)
    for override in overrides:
        try:
            BasicSweeper.split_arguments([override], max_batch_size=None)
        except (ValueError, ArithmeticError) as error:
            raise UserError(f"{override.input_line}: {error}") from error
    (cells,) = BasicSweeper.split_arguments(overrides, max_batch_size=None)
    return cells


def _check_count(overrides: list[Override], most: int) -> None:
    """Refuses a grid of more than `most` jobs without listing them all."""
    count = 1
    for override in overrides:
        if override.is_sweep_override():
            with suppress(ValueError, ArithmeticError):  # which is reported with its key
                count *= sum(1 for _ in islice(override.sweep_string_iterator(), most + 1))
    if count > most:
        raise UserError(
            f"most_jobs={most}: the sweep has more jobs than that; a higher value allows it"
        )


def compose_cells(master: DictConfig, cells: list[list[str]]) -> Iterator[SweepJob]:
    """Every cell with its configuration; those that differ in values alone share a composition."""
    loader = GlobalHydra.instance().config_loader()
    values = _values(OverridesParser.create(config_loader=loader), loader, cells)
    composed: dict[tuple[str, ...], SweepJob] = {}
    for cell in cells:
        structure = tuple(text for text in cell if text not in values)
        if structure not in composed:
            composed[structure] = SweepJob(cell, loader.load_sweep_config(master, cell))
        first = composed[structure]
        config = first.config.copy()
        with open_dict(config), read_write(config):
            for text in set(cell).difference(first.overrides):
                OmegaConf.update(config, *values[text])
            config.hydra.overrides.task = cell
        yield SweepJob(cell, config)


def _values(
    parser: OverridesParser, loader: Any, cells: list[list[str]]
) -> dict[str, tuple[str, Any]]:
    """Override → its key and value, for those that set a value: much faster than composing.

    Choices of a group, additions, deletions and mappings are left to Hydra.
    """
    texts = sorted({text for cell in cells for text in cell})
    return {
        text: (override.key_or_group, override.value())
        for text, override in zip(texts, parser.parse_overrides(texts), strict=True)
        if override.type == OverrideType.CHANGE
        and not isinstance(override.value(), dict)
        and not loader.get_group_options(override.key_or_group)
    }


def sweep_directory(config: DictConfig) -> Path:
    """<outputs>/sweeps/<sweep>."""
    return Path(config.outputs).absolute() / "sweeps" / str(config.sweep)


def check_numbers(master: DictConfig) -> None:
    """Refuses numbers of jobs at a time that a launcher or a sweeper would fail with."""
    for key in ("hydra.launcher.n_jobs", "hydra.sweeper.max_batch_size"):
        value = OmegaConf.select(master, key)
        if value is not None and (type(value) is not int or value == 0):
            raise UserError(f"{key}={value}: should be a number of jobs, and not 0")


def add_names_for_jobs(master: DictConfig, attempt: str) -> None:
    """Lets every job know its sweep and the attempt at it, which its own overrides lack."""
    name = str(master.sweep)
    with read_write(master):
        master.hydra.overrides.hydra.append(f"sweep={name}")
        master.hydra.overrides.hydra.append(f"+hydra.job.env_set.{ATTEMPT}='{attempt}'")
