"""The jobs of a sweep, known before the first one starts."""

from collections.abc import Iterable
from contextlib import suppress
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple

from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, OverrideType
from omegaconf import DictConfig, OmegaConf, open_dict, read_write

from odfl_cli.config.arguments import alternatives
from odfl_cli.config.identity import typed_overrides
from odfl_cli.core.errors import UserError

Cell = tuple[str, ...]
"""The overrides of one job."""
SWEEPER = "hydra_plugins.odfl_grid.GridSweeper"


class SweepJob(NamedTuple):
    """A cell of the grid with its configuration, which the next cell changes."""

    overrides: Cell
    config: DictConfig

    @property
    def directory(self) -> Path:
        """Where the job will write: hydra.sweep.dir/hydra.sweep.subdir."""
        sweep = self.config.hydra.sweep
        return Path(sweep.dir, sweep.subdir).absolute()


def is_grid(sweeper: str) -> bool:
    """Whether the sweeper of this `_target_` knows all its jobs beforehand."""
    return sweeper == SWEEPER


def grid_cells(master: DictConfig) -> list[Cell]:
    """Every combination of the values given to the sweep; the last key varies fastest.

    The name of the sweep is left out: `add_for_jobs` gives them the one that it gets in the end.
    """
    params = [f"{key}={value}" for key, value in (master.hydra.sweeper.params or {}).items()]
    parser = OverridesParser.create(config_loader=GlobalHydra.instance().config_loader())
    typed = [word for word in typed_overrides(master.hydra) if not word.startswith("sweep=")]
    overrides = parser.parse_overrides([*params, *typed])
    latest = {override.get_key_element(): override for override in overrides}
    _check_count(latest.values(), master.most_jobs)
    return list(product(*map(alternatives, latest.values())))


def _check_count(overrides: Iterable[Override], most: int) -> None:
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


class Word(NamedTuple):
    """An override as Hydra reads it."""

    text: str
    key: str
    is_for_hydra: bool
    value: Any
    sets_value: bool  # rather than choosing of a group, adding or removing, which is left to Hydra


class Compositions:
    """Configurations of a sweep's jobs; those that differ in values alone share a composition.

    Setting a value is a thousand times faster than composing, or than copying what was composed.
    """

    def __init__(self, master: DictConfig) -> None:
        self._master = master
        self._loader: Any = GlobalHydra.instance().config_loader()
        self._parser = OverridesParser.create(config_loader=self._loader)
        self._words: dict[str, Word] = {}
        self._groups: dict[str, bool] = {}
        self._composed: dict[tuple[str, ...], DictConfig] = {}

    def job(self, cell: Cell) -> SweepJob:
        """The cell with its configuration, until the next call."""
        texts = (*self._master.hydra.overrides.hydra, *cell)
        words, structure = [self._word(text) for text in texts], self.structure(cell)
        if structure not in self._composed:
            composed = self._loader.load_sweep_config(self._master, list(cell))
            self._composed[structure] = composed
        config = self._composed[structure]
        with open_dict(config), read_write(config):
            for word in words:
                if word.sets_value:
                    OmegaConf.update(config, word.key, word.value)
            self._set_overrides(config, words)
        return SweepJob(cell, config)

    def structure(self, cell: Cell) -> tuple[str, ...]:
        """What cells that share a composition have in common."""
        words = [self._word(text) for text in cell]
        return tuple(word.key if word.sets_value else word.text for word in words)

    def _set_overrides(self, config: DictConfig, words: list[Word]) -> None:
        """As Hydra does it: `hydra.overrides.task` and the directory's name that it offers."""
        texts = [word.text for word in words if not word.is_for_hydra]
        job = config.hydra.job
        config.hydra.overrides.task = texts
        rule = job.config.override_dirname
        excluded = {word.text for word in words if word.key in rule.exclude_keys}
        named = sorted(text for text in texts if text not in excluded)
        job.override_dirname = rule.item_sep.join(named).replace("=", rule.kv_sep)

    def _word(self, text: str) -> Word:
        if text not in self._words:
            override = self._parser.parse_override(text)
            key, value = override.key_or_group, override.value()
            sets = override.type == OverrideType.CHANGE and not isinstance(value, dict)
            sets = sets and not self._is_group(key)
            self._words[text] = Word(text, key, override.is_hydra_override(), value, sets)
        return self._words[text]

    def _is_group(self, key: str) -> bool:
        if key not in self._groups:
            self._groups[key] = bool(self._loader.get_group_options(key))
        return self._groups[key]


def sweep_directory(config: DictConfig) -> Path:
    """<outputs>/sweeps/<sweep>."""
    return Path(config.outputs).absolute() / "sweeps" / str(config.sweep)


def check_numbers(master: DictConfig) -> None:
    """Refuses numbers of jobs at a time that a launcher or a sweeper would fail with."""
    for key in ("hydra.launcher.at_once", "hydra.sweeper.max_batch_size"):
        value = OmegaConf.select(master, key)
        if value is not None and (type(value) is not int or value < 1):
            raise UserError(f"{key}={value}: should be a number of jobs from 1")
    value = OmegaConf.select(master, "hydra.launcher.n_jobs")  # joblib's, where −1 is all cores
    if value is not None and (type(value) is not int or value == 0):
        raise UserError(f"hydra.launcher.n_jobs={value}: should be a number of jobs, and not 0")


def add_for_jobs(master: DictConfig, override: str) -> None:
    """Adds an override that every job of the sweep gets besides its own."""
    overrides = master.hydra.overrides.hydra  # has a flag of its own in Hydra 1.4
    with read_write(overrides):
        overrides.append(override)
