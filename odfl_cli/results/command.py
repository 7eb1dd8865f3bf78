"""The command that computes a run again: what was typed, without where it went and how often."""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from odfl_cli.config.bookkeeping import NOT_REPEATED
from odfl_cli.core.reading import UnreadableError, read_yaml
from odfl_cli.results.ownership import HYDRA
from odfl_cli.results.summary import is_list_of


def repeating_words(overrides: Iterable[str], config_directories: Iterable[str]) -> list[str]:
    """The arguments of `odfl run` but for the seeds, which are those of the run.

    The last occurrence of a key counts. An experiment describes a sweep; the overrides of one of its
    jobs contain every swept key, so that the job is repeated alone.
    """
    last = {override.partition("=")[0]: override for override in overrides}
    kept = [override for key, override in last.items() if _is_repeated(key.lstrip("+~"))]
    alone = ["hydra.mode=RUN"] if any(word.startswith("experiment=") for word in kept) else []
    flags = [word for path in config_directories for word in ("--config-dir", path)]
    return [*flags, *kept, *alone]


def seeds_word(seeds: Sequence[int]) -> str:
    """`seeds=3` for 0, 1, 2; otherwise a list."""
    count = len(seeds)
    return f"seeds={count if list(seeds) == list(range(count)) else str(list(seeds))}".replace(
        " ", ""
    )


def hydra_record(directory: Path) -> dict[str, Any]:
    """choices, config, overrides and config_directories from the files of Hydra.

    A killed run has no other record; up to 0.2.0 no other file has config_directories.
    """
    hydra = _mapping(_yaml(directory, "hydra"), "hydra")
    choices = _mapping(hydra, "runtime", "choices")
    sources: Any = _mapping(hydra, "runtime").get("config_sources")
    typed = _mapping(hydra, "overrides").get("task")
    return {
        "choices": {
            group: str(choice)
            for group, choice in choices.items()
            if choice and not group.startswith("hydra/")
        },
        "config": _yaml(directory, "config"),
        "overrides": typed if is_list_of(str, typed) else [],
        "config_directories": [
            os.path.relpath(str(source.get("path")))
            for source in (sources if is_list_of(dict, sources) else [])
            if source.get("provider") == "command-line"
        ],
    }


def _is_repeated(key: str) -> bool:
    return key not in NOT_REPEATED and not key.startswith(("hydra.", "hydra/"))


def _yaml(directory: Path, name: str) -> dict[str, Any]:
    with suppress(FileNotFoundError, UnreadableError):
        return read_yaml(directory / HYDRA / f"{name}.yaml")
    return {}


def _mapping(node: Any, *keys: str) -> dict[str, Any]:
    for key in keys:
        node = node.get(key) if isinstance(node, dict) else None
    return node if isinstance(node, dict) else {}
