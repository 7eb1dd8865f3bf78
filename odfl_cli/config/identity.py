"""Names of runs and sweeps: hashes of their settings."""

import hashlib
import json
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from odfl_cli.config.bookkeeping import ATTEMPT, BOOKKEEPING
from odfl_cli.config.directory import list_groups
from odfl_cli.core.cores import jobs_at_once, threads_per_job

NOT_IN_THE_NAME = {"seeds", "engine.threads", "engine.seeds_at_once"}
"""A seed's numbers depend neither on the other seeds nor on the number of cores."""
FILE_KEYS = {"file", "files", "weights"}
CLASS_KEYS = {"_target_", "module", "solve"}
"""Keys that name a class or a function by its module."""
REVISED = {"Regret": "Regret 0.4"}
"""Classes whose results have changed, so that their runs are computed again."""
PACKAGE_PREFIX = "odfl_cli."
"""A class of this package is identified by its name alone, so that it may move to another module."""


def register_resolvers() -> None:
    """Registers ${run_name:}, ${sweep_name:}, ${group_listing:} and the resolvers of launchers."""
    resolvers = (run_name, sweep_name, group_listing, threads_per_job, jobs_at_once, choice_of)
    for resolver in resolvers:
        OmegaConf.register_new_resolver(resolver.__name__, resolver, replace=True)


AS_IN_THE_PAPER = {
    "_target_": "odfl_cli.feedback.base.Feedback", "kind": "full", "delay": 0, "delay_law": "constant",
}  # fmt: skip
LATER_KEYS: dict[str, Any] = {
    "kappa_rule": "line", "algo.step": None, "feedback": AS_IN_THE_PAPER, "oracle.failure": 0.0,
}  # fmt: skip
"""Keys added later, with the values that do not change a job."""
NONE = object()
FORMER_KEYS: dict[str, dict[str, Any]] = {"belief": {"horizon": 1.0, "parameters": 1.0}}
"""Former unused keys of DF-OGD; they still count, so that its runs keep their names."""


def choice_of(group: str, *, _root_: DictConfig) -> str:
    """The choice of a group whose name has dots, which plain interpolations read as paths."""
    return str(_root_.get(group))


def run_name(*, _root_: DictConfig) -> str:
    """<algo>-<identity>; different jobs have different names."""
    return f"{_choice(_root_, 'algo')}-{identity(resolve(_root_))}"


def sweep_name(*, _root_: DictConfig) -> str:
    """<experiment or sweep>-<hash of the overrides>."""
    kind = _choice(_root_, "experiment")
    given = typed_overrides(OmegaConf.select(_root_, "hydra"))
    overrides = [override for override in given if override.partition("=")[0] not in ATTEMPT]
    return f"{kind if kind != 'none' else 'sweep'}-{digest(overrides)}"


def typed_overrides(hydra: Any) -> list[str]:
    """The overrides of a job, from the node `hydra`, with their interpolations as typed."""
    typed = OmegaConf.select(hydra, "overrides.task") if hydra else None
    return OmegaConf.to_container(typed, resolve=False) if typed else []  # type: ignore[return-value]


def group_listing(*, _root_: DictConfig) -> str:
    """The groups of the configuration files in use, for the help text."""
    sources = OmegaConf.select(_root_, "hydra.runtime.config_sources", default=[])
    return list_groups([Path(source.path) for source in sources if source.schema == "file"])


def resolve(config: DictConfig) -> dict[str, Any]:
    """The configuration as plain values, without bookkeeping keys."""
    return {str(key): plain(config[key]) for key in config if key not in BOOKKEEPING}


def identity(config: dict[str, Any]) -> str:
    """The hash of the settings that determine a seed's numbers; files count by their content."""
    return digest(content(config))


def digest(value: Any) -> str:
    """The first twelve hexadecimal digits of the hash of a JSON-like value."""
    text = json.dumps(_canonical(value), sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def content(node: Any, key: str = "", path: str = "") -> Any:
    """The configuration with files replaced by checksums and classes of this package by their names."""
    if isinstance(node, dict):
        node = FORMER_KEYS.get(key, {}) | node
        below = {name: f"{path}.{name}" if path else str(name) for name in node}
        return {
            name: content(child, key if key in FILE_KEYS else str(name), below[name])
            for name, child in node.items()
            if below[name] not in NOT_IN_THE_NAME and child != LATER_KEYS.get(below[name], NONE)
        }
    if isinstance(node, list):
        return [content(child, key, path) for child in node]
    if key in FILE_KEYS and isinstance(node, str) and os.path.isfile(node):
        return file_checksum(Path(node))
    if key == "_target_" and str(node).startswith(PACKAGE_PREFIX):
        name = str(node).rpartition(".")[2]
        return REVISED.get(name, name)
    return node


def file_checksum(path: Path) -> str:
    """The hash of a file's content, with its suffix."""
    status = path.stat()
    return f"{hash_file(path.absolute(), status.st_size, status.st_mtime_ns)}{path.suffix}"


@lru_cache
def hash_file(path: Path, *stamp: int) -> str:
    """The SHA-256 of a file, computed once per process and stamp, which changes with the content."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _canonical(value: Any) -> Any:
    """The value with all integers as floats: 1 and 1.0 are the same setting."""
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
