"""Names of runs and sweeps, derived from what they compute."""

import hashlib
import json
from typing import Any

from omegaconf import DictConfig, OmegaConf

from odfl_cli.cores import jobs_at_once, threads_per_job

BOOKKEEPING = frozenset({"hydra", "outputs", "sweep", "experiment"})
"""Keys that say where results go, not what they are."""


def register_resolvers() -> None:
    """Makes ${run_name:}, ${sweep_name:} and what launchers ask known to OmegaConf."""
    OmegaConf.register_new_resolver("run_name", run_name, replace=True)
    OmegaConf.register_new_resolver("sweep_name", sweep_name, replace=True)
    OmegaConf.register_new_resolver("threads_per_job", threads_per_job, replace=True)
    OmegaConf.register_new_resolver("jobs_at_once", jobs_at_once, replace=True)


def run_name(*, _root_: DictConfig) -> str:
    """<algo>-<hash of the resolved configuration>: two different jobs never share a directory."""
    return f"{_choice(_root_, 'algo')}-{digest(resolved(_root_))}"


def sweep_name(*, _root_: DictConfig) -> str:
    """<experiment or sweep>-<hash of the overrides>."""
    overrides = OmegaConf.select(_root_, "hydra.overrides.task", default=[])
    kind = _choice(_root_, "experiment")
    return f"{kind if kind != 'none' else 'sweep'}-{digest(list(overrides))}"


def resolved(config: DictConfig) -> dict[str, Any]:
    """The configuration as plain values, without bookkeeping."""
    return {str(key): plain(config[key]) for key in config if key not in BOOKKEEPING}


def digest(value: Any) -> str:
    """Twelve hexadecimal digits that name a JSON-like value."""
    text = json.dumps(_canonical(value), sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _canonical(value: Any) -> Any:
    """1 and 1.0 are the same setting."""
    if isinstance(value, dict):
        return {key: _canonical(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_canonical(child) for child in value]
    return float(value) if type(value) is int else value


def plain(value: Any) -> Any:
    """A node of the configuration as dicts, lists and numbers."""
    return OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value


def _choice(config: DictConfig, group: str) -> str:
    choice = OmegaConf.select(config, f"hydra.runtime.choices.{group}")
    return str(choice or "none").replace("/", "_")
