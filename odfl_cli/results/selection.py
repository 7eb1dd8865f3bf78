"""Which runs a command names: directories, sweeps, runs, prefixes of hashes, conditions on keys."""

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from odfl_cli.core.errors import UserError
from odfl_cli.core.seeds import format_seeds
from odfl_cli.core.text import format_value, nearest
from odfl_cli.results.grouping import check_key
from odfl_cli.results.runs import StoredRun
from odfl_cli.results.summary import Seeds

OUTPUTS = Path("outputs")
MOST_NAMED = 5
T = TypeVar("T")


def locate(name: str | Path, outputs: Path = OUTPUTS) -> Path:
    """The directory that a name means: a path, a sweep or run in `outputs`, or the only sweep or run
    whose name or hash begins with it.
    """
    for path in (Path(name), outputs / "sweeps" / name, outputs / "runs" / name):
        if os.path.isdir(path):  # a name that is too long is none
            return path
    known = [*_folders(outputs / "sweeps"), *_folders(outputs / "runs")]
    found = [path for path in known if name and _begins(path.name, str(name))]
    if len(found) == 1:
        return found[0]
    if found:
        kinds = " and ".join(dict.fromkeys(path.parent.name for path in reversed(found)))
        some = ", ".join(path.name for path in found[:MOST_NAMED])
        more = ", …" if len(found) > MOST_NAMED else ""
        raise UserError(f"{name}: {len(found)} {kinds} begin like that: {some}{more}")
    near = nearest(str(name), [path.name for path in known])
    hint = f"; did you mean {near[0]}?" if near else ""
    raise UserError(f"{name}: no such directory, sweep or run in {outputs}{hint}")


def locate_all(names: Iterable[str]) -> list[Path]:
    """The directories of all names, or one UserError on all that are not there."""
    found, refusals = try_each(names, locate)
    if refusals:
        raise join_refusals(refusals)
    return list(found.values())


def try_each(
    names: Iterable[str], call: Callable[[str], T]
) -> tuple[dict[str, T], list[UserError]]:
    """The results of a function by name, and its refusals of other names."""
    found, refusals = {}, []
    for name in names:
        try:
            found[name] = call(name)
        except UserError as error:
            refusals.append(error)
    return found, refusals


def join_refusals(refusals: Iterable[UserError]) -> UserError:
    """Several refusals as one line."""
    return UserError("; ".join(dict.fromkeys(map(str, refusals))))


def _folders(place: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(path for path in place.iterdir() if path.is_dir())
    return []


@dataclass(frozen=True)
class Where:
    """Conditions on settings: each key with the values that it may have, as they are typed.

    `seeds` are those to read of every run; None: those that were asked for.
    """

    conditions: Mapping[str, tuple[str, ...]]
    seeds: Seeds | None = None

    @classmethod
    def parse(cls, words: Iterable[str], seeds: Seeds | None = None) -> "Where":
        """Parses words like `data.gamma=0,0.5`."""
        conditions = {}
        for word in words:
            key, _, values = word.partition("=")
            if not key or not values:
                raise UserError(f"--where {word}: should be KEY=VALUE or KEY=VALUE,VALUE")
            conditions[key] = tuple(values.split(","))
        return cls(conditions, seeds)

    def filter(self, runs: list[StoredRun]) -> list[StoredRun]:
        """The runs that meet all conditions; a UserError where none does."""
        left = runs
        for key, values in self.conditions.items():
            if left:
                check_key(left, key, "--where")
            having = [run for run in left if key in run.settings]
            left = [run for run in having if is_one_of(run.settings[key], values)]
            if having and not left:
                there = ", ".join(dict.fromkeys(format_value(run.settings[key]) for run in having))
                words = f"{key}={','.join(values)}"
                raise UserError(f"--where {words}: no run has it; there are {there}")
        return left if self.seeds is None else self._choose_seeds(left)

    def _choose_seeds(self, runs: list[StoredRun]) -> list[StoredRun]:
        chosen = [replace(run, asked=self.seeds) for run in runs]
        kept = [run for run in chosen if run.seeds or not run.listed]
        if runs and not any(run.seeds for run in kept):
            there = format_seeds({seed for run in runs for seed in run.listed}) or "none"
            asked = format_seeds(self.seeds or ())
            raise UserError(f"--seeds {asked}: no run has one of them; there are {there}")
        return kept


EVERY = Where({})


def _begins(name: str, prefix: str) -> bool:
    return name.startswith(prefix) or name.rpartition("-")[2].startswith(prefix)


def is_one_of(value: Any, texts: Iterable[str]) -> bool:
    """Whether a setting is written like one of the texts, or is the same number."""
    number = None if isinstance(value, bool) else _number(value)
    return any(
        format_value(value) == text or (number is not None and number == _number(text))
        for text in texts
    )


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
