"""Composing configurations: Hydra's plugins, one job without a command line, tuned values."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import hydra.utils
import yaml
from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.plugins import Plugins
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from odfl_cli.config.command_line import CommandLine
from odfl_cli.config.directory import conf_directory, is_tuning
from odfl_cli.config.explain import check_arguments, compose_choices, explain_errors
from odfl_cli.config.identity import register_resolvers
from odfl_cli.core.errors import UserError
from odfl_cli.core.reading import FAST_LOADER, flatten

EXTRAS = {
    "hydra/launcher=joblib": ("hydra_plugins.hydra_joblib_launcher", "parallel"),
    "hydra/launcher=submitit_local": ("hydra_plugins.hydra_submitit_launcher", "slurm"),
    "hydra/launcher=submitit_slurm": ("hydra_plugins.hydra_submitit_launcher", "slurm"),
    "hydra/launcher=ray": ("hydra_plugins.hydra_ray_launcher", "ray"),
    "hydra/sweeper=optuna": ("hydra_plugins.hydra_optuna_sweeper", "search"),
}
"""Choice → the package that it needs and the extra of odfl that installs it."""


def compose_job(overrides: Iterable[str]) -> DictConfig:
    """The configuration of one job with Hydra's own; raises a UserError for a wrong override."""
    given = list(overrides)
    with hydra_for(given):
        return compose("config", overrides=given, return_hydra_config=True)


@contextmanager
def hydra_for(overrides: list[str]) -> Iterator[None]:
    """Sets up Hydra as for `odfl run`; its errors about the overrides become UserErrors."""
    prepare_hydra()
    check_arguments(overrides)
    surrounding = GlobalHydra.instance().hydra  # of an application that calls odfl
    GlobalHydra.instance().clear()
    try:
        with (
            explain_errors(overrides),
            initialize_config_dir(str(conf_directory()), version_base="1.3"),
        ):
            yield
    finally:
        GlobalHydra.instance().hydra = surrounding


def is_sweep(line: CommandLine) -> bool:
    """True if a line without a mode is a sweep: it has `sweep=`, or its experiment is a sweep."""
    if any(word.startswith("sweep=") for word in line.overrides):
        return True
    if not (experiment := line.find_experiment()):
        return False
    folder = [f"--config-dir={line.typed.config_dir}"] if line.typed.config_dir else []
    config = compose_choices([experiment, *folder])
    return bool(OmegaConf.select(config, "hydra.mode") == RunMode.MULTIRUN)


@cache
def prepare_hydra() -> None:
    """Registers the resolvers, presets and defaults of odfl with Hydra."""
    register_resolvers()
    Plugins.instance()  # finding the plugins registers their presets
    _prefer_own_presets()
    _prefer_own_defaults()


def _prefer_own_presets() -> None:
    """Removes the plugins' presets that have a file in conf/hydra, which Hydra would check against them."""
    for path in (conf_directory() / "hydra").rglob("*.yaml"):
        folder = ConfigStore.instance().repo
        for group in path.parent.relative_to(conf_directory()).parts:
            folder = folder.get(group, {})
        folder.pop(path.name, None)


def _prefer_own_defaults() -> None:
    """Replaces Hydra's default launcher and sweeper by odfl's, so that experiments can choose others."""
    for choice in ConfigStore.instance().repo["hydra"]["config.yaml"].node.defaults:
        choice.update({group: "odfl" for group in ("launcher", "sweeper") if group in choice})


def allow_any_class() -> AbstractContextManager[Any]:
    """Lets configurations name any class; Hydra 1.4 asks for an explicit permission (docs/trust.md)."""
    allow: Any = getattr(hydra.utils, "execution_whitelist", None)
    return allow(hydra.utils.UNSAFE_DISABLE_EXECUTION_CHECKS) if allow else nullcontext()  # type: ignore[attr-defined]


def require_extras(config: DictConfig) -> None:
    """Raises if the package of the launcher or sweeper is missing."""
    for group in ("hydra/launcher", "hydra/sweeper"):
        choice = f"{group}={config.hydra.runtime.choices[group]}"
        package, extra = EXTRAS.get(choice, ("", ""))
        if package and not _is_installed(package):
            raise UserError(
                f"{choice}: not installed; pip install -e '.[{extra}]' in odfl's clone brings it"
            )


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # not even hydra_plugins
        return False


def tuned_values(config: DictConfig, hydra: Any) -> dict[str, dict[str, Any]]:
    """`group=choice` of conf/tuned → dotted key → value, for files that exist and values not overridden."""
    folders = [Path(source.path) for source in hydra.runtime.config_sources if source.path]
    found = {}
    for group, choice in hydra.runtime.choices.items():
        files = [folder / group / f"{choice}.yaml" for folder in folders if is_tuning(group)]
        for file in [file for file in files if file.is_file()][:1]:
            values = flatten(yaml.load(file.read_bytes(), FAST_LOADER) or {})
            found[f"{group}={choice}"] = {
                key: value
                for key, value in values.items()
                if OmegaConf.select(config, key, default=None) == value
            }
    return {choice: values for choice, values in found.items() if values}
