"""The jobs of a grid, known before the first one starts."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain, islice, product
from pathlib import Path
from typing import Any

from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, OverrideType
from hydra.core.plugins import Plugins
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from omegaconf import DictConfig, OmegaConf, open_dict, read_write

from odfl_cli.config.arguments import word_axes, zip_tag
from odfl_cli.config.identity import typed_overrides
from odfl_cli.core.errors import UserError

Cell = tuple[str, ...]  # the overrides of one job
SWEEPER = "hydra_plugins.odfl_grid.GridSweeper"


def is_grid(sweeper: str) -> bool:
    """True if the sweeper of this `_target_` knows all its jobs beforehand."""
    return sweeper == SWEEPER


def grid_cells(master: DictConfig) -> list[Cell]:
    """Every combination of the values; the last key varies fastest. The sweep's name is left out, as it may change."""
    params = [f"{key}={value}" for key, value in (master.hydra.sweeper.params or {}).items()]
    parser = OverridesParser.create(config_loader=GlobalHydra.instance().config_loader())
    typed = [word for word in typed_overrides(master.hydra) if not word.startswith("sweep=")]
    overrides = parser.parse_overrides([*params, *typed])
    counted = {zip_tag(one) or one.get_key_element(): one for one in overrides}
    counted.pop("seeds", None)  # of which few alternatives are allowed
    _check_count(counted.values(), master.most_jobs)
    return [tuple(chain(*cell)) for cell in product(*word_axes(overrides).values())]


def _check_count(overrides: Iterable[Override], most: int) -> None:
    """Raises for a grid of more than `most` jobs without listing them all."""
    count = 1
    for override in overrides:
        if override.is_sweep_override():
            with suppress(ValueError, ArithmeticError):  # which is reported with its key
                count *= sum(1 for _ in islice(override.sweep_string_iterator(), most + 1))
    if count > most:
        raise UserError(
            f"most_jobs={most}: the sweep has more jobs than that; a higher value allows it"
        )


def varying_words(cells: Sequence[Sequence[str]]) -> list[Cell]:
    """The overrides of every job without those that all jobs share."""
    shared = set(cells[0]).intersection(*cells) if cells else set()
    return [tuple(word for word in cell if word not in shared) for cell in cells]


class Compositions:
    """Configurations of a sweep's jobs; those that differ only in values share a composition, which is slow."""

    def __init__(self, master: DictConfig) -> None:
        self._master = master
        self._loader: Any = GlobalHydra.instance().config_loader()
        self._parser = OverridesParser.create(config_loader=self._loader)
        self._words: dict[str, Override] = {}
        self._groups: dict[str, bool] = {}
        self._composed: dict[tuple[str, ...], DictConfig] = {}

    def compose(self, cell: Cell) -> DictConfig:
        """The configuration of a cell; the next call changes it."""
        texts = (*self._master.hydra.overrides.hydra, *cell)
        words, structure = [self._word(text) for text in texts], self.structure(cell)
        if structure not in self._composed:
            composed = self._loader.load_sweep_config(self._master, list(cell))
            self._composed[structure] = composed
        config = self._composed[structure]
        with open_dict(config), read_write(config):
            for word in words:
                if self._sets_value(word):
                    OmegaConf.update(config, word.key_or_group, word.value())
            typed = {
                text: word.key_or_group
                for text, word in zip(texts, words, strict=True)
                if not word.is_hydra_override()
            }
            config.hydra.overrides.task = list(typed)
            rule = config.hydra.job.config.override_dirname  # as Hydra makes the name
            named = sorted(text for text, key in typed.items() if key not in rule.exclude_keys)
            name = rule.item_sep.join(named).replace("=", rule.kv_sep)
            config.hydra.job.override_dirname = name
        return config

    def structure(self, cell: Cell) -> tuple[str, ...]:
        """The key of a composition: cells with equal keys share it."""
        words = {text: self._word(text) for text in cell}
        return tuple(
            word.key_or_group if self._sets_value(word) else text for text, word in words.items()
        )

    def _word(self, text: str) -> Override:
        if text not in self._words:
            (self._words[text],) = self._parser.parse_overrides([text])  # its errors name the text
        return self._words[text]

    def _sets_value(self, word: Override) -> bool:
        """True if the override sets a value; choices, additions and removals are left to Hydra."""
        key = word.key_or_group
        if word.type != OverrideType.CHANGE or isinstance(word.value(), dict):
            return False
        if key not in self._groups:
            self._groups[key] = bool(self._loader.get_group_options(key))
        return not self._groups[key]


def job_directory(config: DictConfig) -> Path:
    """The directory of a job: hydra.sweep.dir/hydra.sweep.subdir."""
    return Path(config.hydra.sweep.dir, config.hydra.sweep.subdir).absolute()


def sweep_directory(config: DictConfig) -> Path:
    """<outputs>/sweeps/<sweep>."""
    return Path(config.outputs).absolute() / "sweeps" / str(config.sweep)


def check_plugins(master: DictConfig) -> None:
    """Raises for unknown launchers and sweepers, and for invalid settings of them."""
    for kind, contract in (("launcher", Launcher), ("sweeper", Sweeper)):
        key, known = f"hydra.{kind}._target_", Plugins.instance().discover(contract)
        target = OmegaConf.select(master, key)
        if target not in [f"{one.__module__}.{one.__name__}" for one in known]:
            raise UserError(f"{key}={target}: not a {kind} of Hydra; choose one with hydra/{kind}=")
    params = OmegaConf.select(master, "hydra.sweeper.params")
    if not isinstance(params, DictConfig | None):
        raise UserError(f"hydra.sweeper.params={params}: should be keys with their values")
    for key in ("hydra.launcher.at_once", "hydra.sweeper.max_batch_size"):
        value = OmegaConf.select(master, key)
        if value is not None and (type(value) is not int or value < 1):
            raise UserError(f"{key}={value}: should be a number of jobs from 1")
    value = OmegaConf.select(master, "hydra.launcher.n_jobs")  # joblib's, where −1 is all cores
    if value is not None and (type(value) is not int or value == 0):
        raise UserError(f"hydra.launcher.n_jobs={value}: should be a number of jobs, and not 0")


def add_for_jobs(master: DictConfig, override: str) -> None:
    """Adds an override to every job of the sweep."""
    overrides = master.hydra.overrides.hydra  # has a flag of its own in Hydra 1.4
    with read_write(overrides):
        overrides.append(override)
