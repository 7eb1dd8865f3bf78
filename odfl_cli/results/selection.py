"""Which runs a command names: directories, sweeps, runs, prefixes of hashes, conditions on keys."""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odfl_cli.core.errors import UserError
from odfl_cli.core.text import did_you_mean, format_value, nearest
from odfl_cli.results.runs import StoredRun

OUTPUTS = Path("outputs")
MOST_NAMED = 5


def locate(name: str | Path, outputs: Path = OUTPUTS) -> Path:
    """The directory that a name means: a path, a sweep or run in `outputs`, or the only sweep or run
    whose name or hash begins with it.
    """
    for path in (Path(name), outputs / "sweeps" / name, outputs / "runs" / name):
        if os.path.isdir(path):  # a name that is too long is none
            return path
    known = [(kind, one) for kind, several in names(outputs).items() for one in several]
    found = [outputs / kind / one for kind, one in known if name and _begins(one, str(name))]
    if len(found) == 1:
        return found[0]
    if found:
        kinds = " and ".join(dict.fromkeys(path.parent.name for path in reversed(found)))
        some = ", ".join(path.name for path in found[:MOST_NAMED])
        more = ", …" if len(found) > MOST_NAMED else ""
        raise UserError(f"{name}: {len(found)} {kinds} begin so: {some}{more}")
    near = nearest(str(name), [one for _, one in known])
    hint = f"; did you mean {near[0]}?" if near else ""
    raise UserError(
        f"{name}: no such directory, nor a sweep or a run of that name in {outputs}{hint}"
    )


def locate_all(names: Iterable[str]) -> list[Path]:
    """The directories of all names, or one UserError on all that are not there."""
    found, refusals = [], []
    for name in names:
        try:
            found.append(locate(name))
        except UserError as error:
            refusals.append(error)
    if refusals:
        raise join_refusals(refusals)
    return found


def join_refusals(refusals: Iterable[UserError]) -> UserError:
    """Several refusals as one line."""
    return UserError("; ".join(dict.fromkeys(map(str, refusals))))


def names(outputs: Path = OUTPUTS) -> dict[str, list[str]]:
    """The names of the sweeps and of the runs."""
    found: dict[str, list[str]] = {"sweeps": [], "runs": []}
    for kind in found:
        with suppress(OSError):
            found[kind] = sorted(one.name for one in os.scandir(outputs / kind) if one.is_dir())
    return found


@dataclass(frozen=True)
class Where:
    """Conditions on settings: each key with the values that it may have, as they are typed."""

    conditions: Mapping[str, tuple[str, ...]]

    @classmethod
    def parse(cls, words: Iterable[str]) -> "Where":
        """Parses words like `data.gamma=0,0.5`."""
        conditions = {}
        for word in words:
            key, _, values = word.partition("=")
            if not key or not values:
                raise UserError(f"--where {word}: should be KEY=VALUE or KEY=VALUE,VALUE")
            conditions[key] = tuple(values.split(","))
        return cls(conditions)

    def of(self, runs: list[StoredRun]) -> list[StoredRun]:
        """The runs that meet all conditions; a UserError where none does."""
        left = runs
        for key, values in self.conditions.items():
            having = [run for run in left if key in run.settings]
            if left and not having:
                known = sorted(
                    {name for run in left for name in run.settings if "_target_" not in name}
                )
                raise UserError(f"--where {key}: no run has this key; {did_you_mean(key, known)}")
            kept = [run for run in having if is_one_of(run.settings[key], values)]
            if left and not kept:
                there = dict.fromkeys(format_value(run.settings[key]) for run in having)
                words = f"{key}={','.join(values)}"
                raise UserError(f"--where {words}: no run has it; there are {', '.join(there)}")
            left = kept
        return left


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
