"""Launchers and sweepers that come with an extra, and what to say where it is not installed."""

from importlib.util import find_spec

from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from omegaconf import DictConfig

from odfl_cli.config.directory import conf_directory
from odfl_cli.core.errors import UserError

EXTRAS = {
    "hydra/launcher=joblib": ("hydra_plugins.hydra_joblib_launcher", "parallel"),
    "hydra/launcher=submitit_local": ("hydra_plugins.hydra_submitit_launcher", "slurm"),
    "hydra/launcher=submitit_slurm": ("hydra_plugins.hydra_submitit_launcher", "slurm"),
    "hydra/launcher=ray": ("hydra_plugins.hydra_ray_launcher", "ray"),
    "hydra/sweeper=optuna": ("hydra_plugins.hydra_optuna_sweeper", "search"),
}
"""Choice → the package it runs on and the extra of odfl that brings it."""


def prefer_own_presets() -> None:
    """Files in conf/hydra replace the plugins' presets of the same names.

    Hydra takes a plugin's preset for the schema of such a file and refuses every key beyond it.
    """
    Plugins.instance()  # finding the plugins registers their presets
    for path in (conf_directory() / "hydra").rglob("*.yaml"):
        folder = ConfigStore.instance().repo
        for group in path.parent.relative_to(conf_directory()).parts:
            folder = folder.get(group, {})
        folder.pop(path.name, None)


def require_extras(config: DictConfig) -> None:
    """Refuses a launcher or a sweeper whose package is missing."""
    for group in ("hydra/launcher", "hydra/sweeper"):
        choice = f"{group}={config.hydra.runtime.choices[group]}"
        package, extra = EXTRAS.get(choice, ("", ""))
        if package and not _is_installed(package):
            raise UserError(f"{choice}: not installed; pip install 'odfl[{extra}]' brings it")


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # not even hydra_plugins
        return False
