"""Pools runs that differ in their seeds only, and finds the keys in which others differ."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from odfl_cli.config.bookkeeping import NOT_COMPARED
from odfl_cli.config.directory import is_tuning
from odfl_cli.core.errors import UserError
from odfl_cli.core.text import did_you_mean, format_value

if TYPE_CHECKING:  # comparing settings should not import pandas
    import pandas as pd

    from odfl_cli.results.runs import StoredRun

    Described: TypeAlias = "Run | StoredRun"

# Groups that belong to the algorithm: DF-OGD and DF-FTPL have different oracles by design, so only
# runs of one algorithm are compared in them.
ALGORITHM_GROUPS = ("algo", "oracle")
TARGET = "data.target"  # what an algorithm predicts: chosen with its constants

OF_REGRET = ("static_regret", "dynamic_regret", "expected_cost", "bound", "path_length")
"""Columns, or ends of their names, that metrics=regret adds."""

Settings = Mapping[str, Any]
R = TypeVar("R", bound="Run | StoredRun")


@dataclass(frozen=True)
class Run:
    """A job with its rows. `settings` maps dotted keys to values, and each group to its choice."""

    directory: Path
    algorithm: str
    settings: Settings
    rounds: int
    rows: pd.DataFrame  # one row per seed and logged round: seed, t, cost, avg_cost, …
    extras: Mapping[str, Any] = field(default_factory=dict)  # marks, margin, oracle_share
    varying: Settings = field(default_factory=dict)  # the settings that distinguish a group

    @property
    def seeds(self) -> list[int]:
        """The readable seeds, ascending."""
        return sorted(self.rows["seed"].unique().tolist())

    @cached_property
    def columns(self) -> list[str]:
        """The columns with at least one value."""
        return [str(name) for name, has_values in self.rows.notna().any().items() if has_values]

    @cached_property
    def last(self) -> pd.DataFrame:
        """The rows of the last round, by seed."""
        return self.rows[self.rows["t"] == self.rounds].set_index("seed")

    def final(self, column: str) -> pd.Series:
        """The column's value after the last round, by seed; empty if there is no such column."""
        import pandas as pd

        return self.last[column].dropna() if column in self.last else pd.Series(dtype=float)


Group = Run
"""Pooled runs that differ only in their seeds: one curve, or one point of a sweep."""


def group_runs(runs: list[Run]) -> list[Group]:
    """Pools runs that differ only in their seeds; the first occurrence of a seed counts."""
    return [_join(pool, varying) for pool, varying in pool_runs(runs)]


def pool_runs(runs: Sequence[R]) -> list[tuple[list[R], Settings]]:
    """Lists of runs that differ only in their seeds, with the settings that distinguish them."""
    keys = differing_keys(runs)
    pools: dict[Hashable, list[R]] = {}
    alike: dict[str, list[R]] = {}
    for run in runs:
        pools.setdefault(_identity(run, keys), []).append(run)
        alike.setdefault(run.algorithm, []).append(run)
    shared = [key for key in keys if not belongs_to_algorithm(key)]
    distinguishing = {name: {*shared, *differing_keys(several)} for name, several in alike.items()}

    def varying(run: R) -> Settings:
        mine = distinguishing[run.algorithm].intersection(run.settings)
        return {key: run.settings[key] for key in keys if key in mine}

    return [(pool, varying(pool[0])) for pool in pools.values()]


def split_settings(varying: Settings) -> tuple[Settings, Settings]:
    """The settings of the problem, and those of the algorithm."""
    parts: tuple[dict[str, Any], dict[str, Any]] = {}, {}
    for key, value in varying.items():
        parts[belongs_to_algorithm(key)][key] = value
    return parts


def differing_keys(runs: Sequence[Described]) -> list[str]:
    """The sorted keys, except for the algorithm, in which the runs differ.

    A key inside a group (data.gamma) is compared between runs with the same component in that
    group; if the components differ, the group itself (data) is listed instead.
    """
    keys = sorted({key for run in runs for key in run.settings})
    groups = {_root(key) for key in keys if "." in key}
    compared = [key for key in keys if not _is_ignored(key, groups.intersection(keys))]
    differing = [key for key in compared if _differs(key, runs, is_group=key in groups)]
    return _without_echoes(differing, runs)


def belongs_to_algorithm(key: str) -> bool:
    """True if a key is compared only between runs of one algorithm."""
    return key == TARGET or _root(key) in ALGORITHM_GROUPS or is_tuning(_root(key))


def freeze(value: Any) -> Hashable:
    """A hashable version of a configuration value."""
    if isinstance(value, Mapping):
        return tuple((key, freeze(value[key])) for key in sorted(value))
    return tuple(map(freeze, value)) if isinstance(value, list | tuple) else value


def sort_key(value: Any) -> tuple[int, float, str]:
    """A key that sorts numbers by size, before all other values."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        return 0, float(value), ""
    return 1, 0.0, str(value)


def is_one_of(value: Any, texts: Iterable[str]) -> bool:
    """True if a setting equals one of the texts, as text or as a number."""
    number = None if isinstance(value, bool) else _number(value)
    return any(
        format_value(value) == text or (number is not None and number == _number(text))
        for text in texts
    )


def without(settings: Settings, *keys: str) -> Settings:
    """The settings without some keys."""
    return {name: value for name, value in settings.items() if name not in keys}


def check_column(runs: Iterable[Described], column: str, option: str) -> None:
    """Raises for a column that no run has, with the existing ones or the metric that computes it."""
    known = sorted({name for run in runs for name in run.columns} - {"t", "seed"})
    if column in known:
        return
    if column.endswith(OF_REGRET) and not any(name.endswith(OF_REGRET) for name in known):
        raise UserError(f"{option} {column}: no run has it; run with metrics=regret")
    hint = did_you_mean(column, known, most=2, cutoff=0.5)
    raise UserError(f"{option} {column}: no run has such a column; {hint}")


def check_key(runs: Iterable[Described], key: str, option: str) -> None:
    """Raises for a key that no run has, with the nearest one."""
    known = {name for run in runs for name in run.settings if not name.endswith("_target_")}
    if key not in known:
        hint = did_you_mean(key, sorted(known))
        raise UserError(f"{option} {key}: no run has this key; {hint}")


def check_swept(runs: Sequence[Described], key: str) -> None:
    """Raises for a key that no run has or that has the same value in all runs."""
    check_key(runs, key, "--x")
    values = [run.settings[key] for run in runs if key in run.settings]
    if len(set(map(freeze, values))) == 1 and key != "algo":
        others = ", ".join(differing_keys(runs)) or "nothing but algo"
        value = format_value(values[0])
        raise UserError(f"--x {key}: all runs have the value {value}; they differ in {others}")


def _join(pool: list[Run], varying: Settings) -> Group:
    import pandas as pd

    tables: list[pd.DataFrame] = []
    taken: set[int] = set()
    for run in pool:
        tables.append(run.rows[~run.rows["seed"].isin(taken)])
        taken.update(run.seeds)
    return replace(pool[0], rows=pd.concat(tables, ignore_index=True), varying=varying)


def _identity(run: Described, keys: list[str]) -> Hashable:
    targets = [key for key in sorted(run.settings) if key.endswith("._target_")]
    parts = {key: run.settings[key] for key in targets if not _is_ignored(key, set())}
    return run.algorithm, run.rounds, freeze([run.settings.get(key) for key in keys]), freeze(parts)


def _differs(key: str, runs: Sequence[Described], is_group: bool) -> bool:
    """True if two runs of one algorithm, or two runs that have the key, differ in it."""
    names = {run.algorithm for run in runs}
    alike = [[run for run in runs if run.algorithm == name] for name in names]
    if not belongs_to_algorithm(key):
        alike.append([run for run in runs if key in run.settings])
    return any(_takes_two_values(key, several, is_group) for several in alike)


def _takes_two_values(key: str, runs: Sequence[Described], is_group: bool) -> bool:
    """True if runs with the same component differ in a key, or for a group, in the component."""
    target = f"{_root(key)}._target_"
    values: dict[Hashable, set[Hashable]] = {}
    for run in runs:
        component = None if is_group else freeze(run.settings.get(target))
        value = run.settings.get(target if is_group else key, "absent")
        values.setdefault(component, set()).add(freeze(value))
    return any(len(seen) > 1 for seen in values.values())


def _is_ignored(key: str, named: set[str]) -> bool:
    """True if a key is not compared, such as the `_target_` of a group with a named choice."""
    parent, _, last = key.rpartition(".")
    by_name = last == "_target_" and parent in named
    return by_name or any(f"{key}.".startswith((f"{n}.", f"{n}/")) for n in NOT_COMPARED)


def _without_echoes(keys: list[str], runs: Sequence[Described]) -> list[str]:
    """Drops keys that interpolate another one (polytope.dimension: ${data.items})."""
    first: dict[Hashable, str] = {}
    values = {key: freeze([run.settings.get(key) for run in runs]) for key in keys}
    sources = {key: first.setdefault(values[key], key) for key in keys}
    return [key for key in keys if sources[key] == key or _root(sources[key]) == _root(key)]


def _root(key: str) -> str:
    return key.partition(".")[0]


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
