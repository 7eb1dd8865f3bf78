"""Which runs there are, whatever became of them."""

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from odfl_cli.config.directory import is_tuning
from odfl_cli.core.errors import UserError
from odfl_cli.core.flat import flatten, interpolated
from odfl_cli.results.ownership import HYDRA, LOG, is_run
from odfl_cli.results.run_state import FAILURE, SUMMARY, RunState, inspect
from odfl_cli.results.sweep_index import INDEX, read_index


@dataclass(frozen=True)
class Entry:
    """One run: its state, and what it computes."""

    directory: Path
    run: RunState
    asked: tuple[int, ...] | None = None  # the seeds that a sweep wants of it; None: all

    @property
    def state(self) -> str:
        """finished, failed, running, unfinished, damaged or newer."""
        return self.run.state

    @cached_property
    def record(self) -> dict[str, Any]:
        """summary.json, or what a failure left."""
        return self.run.summary or _read_json(self.directory / FAILURE)

    @cached_property
    def choices(self) -> dict[str, str]:
        """The choice of every group."""
        recorded = _mapping(self.record, "choices")
        recorded = recorded or _mapping(self._hydra("hydra"), "hydra", "runtime", "choices")
        found = {str(group): str(choice) for group, choice in recorded.items() if choice}
        return {g: choice for g, choice in found.items() if not g.startswith("hydra/")}

    @cached_property
    def config(self) -> dict[str, Any]:
        """The resolved configuration; of a run without a summary, as it was composed."""
        return _mapping(self.record, "config") or self._hydra("config")

    @property
    def algorithm(self) -> str:
        """The choice of algo."""
        return self.choices.get("algo", "?")

    @cached_property
    def settings(self) -> Mapping[str, Any]:
        """Dotted keys, and each group with its choice."""
        flat = flatten(self.config)
        values = {key: interpolated(value, flat) for key, value in flat.items()}
        return values | {g: choice for g, choice in self.choices.items() if not is_tuning(g)}

    @property
    def config_directories(self) -> list[Path]:
        """The user's own --config-dir of that run."""
        sources = _mapping(self._hydra("hydra"), "hydra", "runtime").get("config_sources") or []
        return [Path(s["path"]) for s in sources if s.get("provider") == "command-line"]

    @property
    def seeds(self) -> list[int]:
        """Those that are wanted and whose files are whole."""
        return [seed for seed in self.run.seeds if self.asked is None or seed in self.asked]

    @property
    def is_whole(self) -> bool:
        """Whether all that is wanted of it can be read, whatever else becomes of it."""
        asked = self.asked is not None and self.run.covers(self.asked)
        return bool(self.seeds) and (asked or self.state == "finished")

    @property
    def columns(self) -> list[str]:
        """Those with a final value."""
        return list(_mapping(self.run.summary, "final"))

    def final(self, column: str) -> dict[int, float]:
        """The value of a column after the last round, by seed."""
        values = _mapping(self.run.summary, "final", column).get("per_seed") or []
        every = dict(zip((self.run.summary or {}).get("seeds", []), values, strict=False))
        return {seed: every[seed] for seed in self.seeds if seed in every}

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(path.lstat().st_size for path in self.directory.rglob("*") if path.is_file())

    @property
    def age(self) -> float:
        """Seconds since its latest file changed."""
        marks = [self.directory / name for name in (SUMMARY, FAILURE, LOG)]
        times = [mark.stat().st_mtime for mark in marks if mark.exists()]
        return time.time() - max(times, default=self.directory.stat().st_mtime)

    def _hydra(self, name: str) -> dict[str, Any]:
        try:
            content = yaml.safe_load((self.directory / HYDRA / f"{name}.yaml").read_text())
        except (OSError, ValueError, yaml.YAMLError):
            return {}
        return content if isinstance(content, dict) else {}


def catalogue(paths: list[Path]) -> list[Entry]:
    """Every run that the paths hold, each once: the jobs of a sweep, or all runs below a folder."""
    found: dict[Path, tuple[Path, tuple[int, ...] | None]] = {}
    for path in paths:
        if not path.is_dir():
            raise UserError(f"{path}: no such directory; name one that holds runs")
        is_sweep = (path / INDEX).exists()
        for run, asked in _jobs(path) if is_sweep else _below(path):
            _, known = found.get(run.resolve(), (run, ()))
            wanted = None if known is None or asked is None else (*known, *asked)
            found[run.resolve()] = run, wanted
    return [Entry(run, inspect(run), asked) for run, asked in found.values()]


def finished(paths: list[Path], warn: Callable[[str], None]) -> list[Entry]:
    """The runs whose results are whole; `warn` hears how many others there are."""
    entries = catalogue(paths)
    whole = [entry for entry in entries if entry.is_whole]
    others = Counter(entry.state for entry in entries if entry not in whole)
    where = ", ".join(map(str, paths))
    counts = ", ".join(f"{count} {state}" for state, count in others.items())
    if not whole:
        raise UserError(f"no finished run in {where}" + (f" ({counts})" if counts else ""))
    if others:
        warn(f"left out of {where}: {counts}")
    return whole


def _jobs(sweep: Path) -> Iterator[tuple[Path, tuple[int, ...] | None]]:
    """Those that have begun."""
    return ((job.directory, job.seeds) for job in read_index(sweep) if is_run(job.directory))


def _below(path: Path) -> Iterator[tuple[Path, None]]:
    for folder, folders, _ in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if is_run(Path(folder)):
            yield Path(folder), None


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _mapping(node: Any, *keys: str) -> dict[str, Any]:
    for key in keys:
        node = node.get(key) if isinstance(node, dict) else None
    return node if isinstance(node, dict) else {}
