"""The command that repeats a run: the typed overrides without bookkeeping."""

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from odfl_cli.config.bookkeeping import NOT_REPEATED
from odfl_cli.core.reading import UnreadableError, read_yaml
from odfl_cli.core.seeds import format_seeds
from odfl_cli.results.ownership import HYDRA
from odfl_cli.results.summary import fits


def repeating_words(overrides: Iterable[str], config_directories: Iterable[str]) -> list[str]:
    """The arguments of `odfl run` but for the seeds, which are those of the run.

    The last occurrence of a key counts. An experiment describes a sweep; the overrides of one of its
    jobs contain every swept key, so that the job is repeated alone.
    """
    last = {override.partition("=")[0]: override for override in overrides}
    roots = {key: re.split("[./]", key.lstrip("+~"))[0] for key in last}
    kept = [override for key, override in last.items() if roots[key] not in NOT_REPEATED]
    alone = ["hydra.mode=RUN"] if any(word.startswith("experiment=") for word in kept) else []
    flags = [word for path in config_directories for word in ("--config-dir", path)]
    return [*flags, *kept, *alone]


def seeds_word(seeds: Sequence[int]) -> str:
    """`seeds=3` for 0, 1, 2; otherwise those that there are, as in `seeds=1000-1019`."""
    if list(seeds) == list(range(len(seeds))):
        return f"seeds={len(seeds)}"
    text = format_seeds(seeds)
    return f"seeds={text}" if re.fullmatch(r"\d+-\d+", text) else f"seeds=[{text}]"


def hydra_record(directory: Path) -> dict[str, Any]:
    """choices, config, overrides and config_directories from the files of Hydra.

    A killed run has no other record; up to 0.2.0 no other file has config_directories.
    """
    config, hydra = (_read(directory / HYDRA / name) for name in ("config.yaml", "hydra.yaml"))
    choices = _get(hydra, "hydra", "runtime", "choices")
    sources = _get(hydra, "hydra", "runtime", "config_sources")
    typed = _get(hydra, "hydra", "overrides", "task")
    return {
        "choices": {
            group: str(choice)
            for group, choice in (choices if isinstance(choices, dict) else {}).items()
            if choice and not group.startswith("hydra/")
        },
        "config": config,
        "overrides": typed if fits(typed, [str]) else [],
        "config_directories": [
            os.path.relpath(str(source.get("path")))
            for source in (sources if fits(sources, [dict]) else [])
            if source.get("provider") == "command-line"
        ],
    }


def _read(path: Path) -> dict[str, Any]:
    with suppress(FileNotFoundError, UnreadableError):
        return read_yaml(path)
    return {}


def _get(node: Any, *keys: str) -> Any:
    for key in keys:
        node = node.get(key) if isinstance(node, dict) else None
    return node
