"""The contents and the state of a run directory, read from its files alone."""

import hashlib
import os
import re
import shlex
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from odfl_cli.config.bookkeeping import NOT_REPEATED
from odfl_cli.config.directory import is_tuning
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import open_regular
from odfl_cli.core.locks import holder, is_locked
from odfl_cli.core.reading import UnreadableError, flatten, follow_reference, read_json, read_yaml
from odfl_cli.core.seeds import seeds_word
from odfl_cli.results.ownership import HYDRA, LOG
from odfl_cli.results.summary import (
    FAILURE,
    SHAPES,
    SUMMARY,
    NewerError,
    Seeds,
    Summary,
    fits,
    seed_file,
    versions_of,
)

CSV_LARGEST = 1 << 31  # bytes of the largest CSV that is read

State = Literal["finished", "failed", "running", "unfinished", "damaged", "newer"]


@dataclass(frozen=True)
class StoredRun:
    """The state of a run directory when it was read.

    finished: the summary and all its files are intact. failed: the last attempt left
    failed.json. running: a living process holds the lock. damaged: the summary or one of its
    files has changed. newer: written by a version that this one cannot read.
    unfinished: none of these.
    """

    directory: Path
    state: State
    summary: Summary | None = None
    failure: Mapping[str, Any] = field(default_factory=dict)  # failed.json
    reason: str | None = None  # the reason for the state, unless it is finished
    damage: Mapping[int, str] = field(default_factory=dict)  # seed → what is wrong with its CSV
    versions: tuple[str, ...] = ()  # of the code that computed the results
    asked: Seeds | None = None  # the seeds that a sweep asked for; None: all

    @property
    def error(self) -> str | None:
        """The first line of the failure."""
        return str(self.failure.get("error")) if self.failure else None

    @property
    def listed(self) -> Seeds:
        """The seeds of the summary."""
        return self.summary.seeds if self.summary else ()

    @property
    def seeds(self) -> Seeds:
        """The listed seeds that were asked for and whose files are intact."""
        asked = self.listed if self.asked is None else self.asked
        return tuple(seed for seed in self.listed if seed not in self.damage and seed in asked)

    @property
    def version(self) -> str | None:
        """The versions of odfl that computed the results; several if seeds were added later."""
        return ", ".join(self.versions) or None

    def covers(self, seeds: Seeds) -> bool:
        """True if all these seeds can be read."""
        return set(seeds) <= set(self.listed) - set(self.damage)

    def has_file(self, name: str) -> bool:
        """True if the file is listed in the summary and intact."""
        return self.summary is not None and _find_fault(self.directory, name, self.summary) is None

    def changed_modules(self, seed: int, now: Mapping[str, str]) -> list[str]:
        """The user's modules whose checksums (`now`) have changed since a seed was computed."""
        if self.summary is None:
            return []
        before = self.summary.files.get(seed_file(seed), {}).get("sources")
        if before is None:  # up to 0.2.0: for all seeds, without imported modules
            before = self.summary.content.get("sources", {})
            now = {module: checksum for module, checksum in now.items() if module in before}
        if not fits(before, {str: str}):
            return []
        return sorted({module for module, _ in set(now.items()) ^ set(before.items())})

    @property
    def is_whole(self) -> bool:
        """True if all seeds that were asked for can be read."""
        asked = self.asked is not None and self.covers(self.asked)
        return bool(self.seeds) and (asked or self.state == "finished")

    @property
    def rounds(self) -> int:
        """The number of rounds; 0 without a summary."""
        return self.summary.rounds if self.summary else 0

    @property
    def algorithm(self) -> str:
        """The choice of the group algo."""
        return self.choices.get("algo", "?")

    @cached_property
    def choices(self) -> Mapping[str, str]:
        """The choice of every group."""
        return dict(self._record["choices"])

    @cached_property
    def config(self) -> Mapping[str, Any]:
        """The resolved configuration, or the composed one if the run has no record."""
        return dict(self._record["config"])

    @cached_property
    def settings(self) -> Mapping[str, Any]:
        """Dotted key → value, and group → choice."""
        flat = flatten(self.config)
        values = {key: follow_reference(value, flat) for key, value in flat.items()}
        return values | {g: choice for g, choice in self.choices.items() if not is_tuning(g)}

    @property
    def columns(self) -> list[str]:
        """The columns that have a final value."""
        return list(self.summary.final) if self.summary else []

    def final(self, column: str) -> dict[int, float]:
        """The value of a column after the last round, by seed."""
        values = self.summary.final.get(column, {}) if self.summary else {}
        return {seed: values[seed] for seed in self.seeds if seed in values}

    @property
    def command(self) -> str:
        """The command `odfl run …` that repeats the run for the seeds that were asked for."""
        seeds = self.asked or self.listed
        return shlex.join(["odfl", "run", *self._words, *([seeds_word(seeds)] if seeds else [])])

    @property
    def overrides(self) -> list[str]:
        """The overrides of the command, without flags and seeds."""
        return [word for word in self._words if "=" in word and not word.startswith("hydra.")]

    @cached_property
    def _words(self) -> list[str]:
        words = self._record.get("command")
        if words is not None:
            return list(words)
        hydra = hydra_record(self.directory)  # up to 0.2.0
        overrides = self._record.get("overrides", hydra["overrides"])
        return repeating_words(overrides, hydra["config_directories"])

    @property
    def size(self) -> int:
        """The bytes of all its files."""
        folders = os.walk(self.directory)
        return sum(status(Path(place, name))[0] for place, _, names in folders for name in names)

    @property
    def modified(self) -> float:
        """The time of the last change of a record, in seconds since 1970."""
        times = [status(self.directory / name)[1] for name in (SUMMARY, FAILURE, LOG)]
        return max(times) or status(self.directory)[1]

    @property
    def age(self) -> float:
        """Seconds since it was modified."""
        return time.time() - self.modified

    @cached_property
    def _record(self) -> Mapping[str, Any]:
        """choices, config and command from the summary, failed.json or Hydra's files."""
        if self.summary:
            return self.summary.content
        is_record = self.failure.keys() >= {"choices", "config"}
        return self.failure if is_record else hydra_record(self.directory)


def inspect(directory: Path) -> StoredRun:
    """Reads a run directory with all its CSVs; one that does not exist is unfinished."""
    found = inspect_files(directory)
    if found.state != "newer" and is_locked(directory):
        reason = f"process {holder(directory) or 'another process'}"
        return replace(found, state="running", reason=reason)
    return found


def inspect_files(directory: Path) -> StoredRun:
    """Like `inspect`, without the lock: for the process that holds it."""
    found = StoredRun(directory, "unfinished", reason=f"there is no {SUMMARY}")
    content: Mapping[str, Any] = {}
    try:
        content = read_json(directory / SUMMARY)
        summary = Summary.parse(content)
        wrong = {seed: _find_fault(directory, seed_file(seed), summary) for seed in summary.seeds}
        damage = {seed: line for seed, line in wrong.items() if line}
        found = StoredRun(directory, "finished", summary, damage=damage)
        for seed, line in list(damage.items())[:1]:
            found = replace(found, state="damaged", reason=f"{seed_file(seed)}: {line}")
    except NewerError as error:
        return StoredRun(directory, "newer", reason=str(error), versions=versions_of(content))
    except FileNotFoundError:
        pass
    except UnreadableError as error:
        line = str(error).removeprefix(f"{SUMMARY}: ")
        found = StoredRun(directory, "damaged", reason=f"{SUMMARY}: {line}")
    failure = _read_failure(directory, quiet=found.state == "damaged")
    versions = versions_of(content) or versions_of(failure)
    if failure:
        reason = str(failure.get("error"))
        found = replace(found, state="failed", failure=failure, reason=reason)
    return replace(found, versions=versions)


def _read_failure(directory: Path, quiet: bool) -> dict[str, Any]:
    """The valid entries of failed.json; `quiet` ignores a damaged file."""
    try:
        content = read_json(directory / FAILURE).items()
        return {key: part for key, part in content if fits(part, SHAPES.get(key, object))}
    except FileNotFoundError:
        return {}
    except UnreadableError as error:
        return {} if quiet else {"error": f"{FAILURE}: {error}"}


def _find_fault(directory: Path, name: str, summary: Summary) -> str | None:
    """How a file differs from its record in the summary; None if it does not."""
    record = summary.files.get(name)
    if record is None:
        return f"{SUMMARY} does not list it"
    try:
        with os.fdopen(open_regular(directory / name), "rb") as file:
            length = os.fstat(file.fileno()).st_size
            if length != record.get("bytes") or length > CSV_LARGEST:
                return f"it has {length} bytes instead of {record.get('bytes')}"
            is_same = hashlib.file_digest(file, "sha256").hexdigest() == record.get("sha256")
            return None if is_same else "it is not what was written"
    except OSError as error:
        return error.strerror
    except UserError:
        return "it is not a regular file"


def status(path: Path) -> tuple[int, float]:
    """The size in bytes and the time of the last change; zeros if it cannot be read."""
    with suppress(OSError):
        found = path.lstat()
        return found.st_size, found.st_mtime
    return 0, 0.0


def repeating_words(overrides: Iterable[str], config_directories: Iterable[str]) -> list[str]:
    """The arguments of `odfl run` that repeat a job alone, without seeds; the last occurrence of a key counts."""
    last = {override.partition("=")[0]: override for override in overrides}
    roots = {key: re.split("[./]", key.lstrip("+~"))[0] for key in last}
    kept = [override for key, override in last.items() if roots[key] not in NOT_REPEATED]
    alone = ["hydra.mode=RUN"] if any(word.startswith("experiment=") for word in kept) else []
    flags = [word for path in config_directories for word in ("--config-dir", path)]
    return [*flags, *kept, *alone]


def hydra_record(directory: Path) -> dict[str, Any]:
    """choices, config, overrides and config_directories from Hydra's files, the only record of a killed run."""
    config, hydra = (
        _read_mapping(directory / HYDRA / name) for name in ("config.yaml", "hydra.yaml")
    )
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


def _read_mapping(path: Path) -> dict[str, Any]:
    with suppress(FileNotFoundError, UnreadableError):
        return read_yaml(path)
    return {}


def _get(node: Any, *keys: str) -> Any:
    for key in keys:
        node = node.get(key) if isinstance(node, dict) else None
    return node
