"""Which runs belong together, and by what the others differ."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from odfl_cli.config.bookkeeping import NOT_COMPARED
from odfl_cli.config.directory import is_tuning
from odfl_cli.core.errors import UserError
from odfl_cli.core.text import did_you_mean

if TYPE_CHECKING:  # comparing settings should not import pandas
    import numpy as np
    import pandas as pd

    from odfl_cli.results.finding import Warn
    from odfl_cli.results.runs import StoredRun

    Described: TypeAlias = "Run | StoredRun"

# Groups that belong to the algorithm: DF-OGD and DF-FTPL have different oracles by design, so only
# runs of one algorithm are compared in them.
ALGORITHM_GROUPS = ("algo", "oracle")

Settings = Mapping[str, Any]


class Grid(NamedTuple):
    """The place of each row of a run in a table with a row per round and a column per seed."""

    rounds: np.ndarray  # ascending
    seeds: np.ndarray  # ascending
    places: tuple[np.ndarray, np.ndarray]  # row and column for each row of the run


@dataclass(frozen=True)
class Run:
    """One job with its rows. `settings` maps dotted config keys, and each group to its choice."""

    directory: Path
    algorithm: str
    settings: Settings
    rounds: int
    rows: pd.DataFrame  # one row per seed and logged round: seed, t, cost, avg_cost, …
    extras: Mapping[str, Any] = field(default_factory=dict)  # marks, margin, oracle_share
    varying: Settings = field(default_factory=dict)  # of a group: the settings that distinguish it

    @cached_property
    def grid(self) -> Grid:
        """The run's rounds and seeds, and the place of each of its rows."""
        import numpy as np

        rounds, row = np.unique(self.rows["t"], return_inverse=True)
        seeds, column = np.unique(self.rows["seed"], return_inverse=True)
        return Grid(rounds, seeds, (row, column))

    @property
    def seeds(self) -> list[int]:
        """The seeds that could be read, ascending."""
        return [int(seed) for seed in self.grid.seeds]

    @cached_property
    def columns(self) -> list[str]:
        """The columns that have values."""
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
"""Runs that differ in nothing but their seeds, pooled: one curve, or one point of a sweep."""


def group_runs(runs: list[Run]) -> list[Group]:
    """Pools runs that differ in their seeds only; of a seed that occurs twice the first counts."""
    keys = differing_keys(runs)
    pools: dict[Hashable, list[Run]] = {}
    for run in runs:
        pools.setdefault(_identity(run, keys), []).append(run)
    own = {
        name: differing_keys([run for run in runs if run.algorithm == name])
        for name in {run.algorithm for run in runs}
    }
    return [
        _pool(
            pool,
            [key for key in keys if not belongs_to_algorithm(key) or key in own[pool[0].algorithm]],
        )
        for pool in pools.values()
    ]


def differing_keys(runs: Sequence[Described]) -> list[str]:
    """Keys other than the algorithm in which two runs differ, sorted.

    A key inside a group (data.gamma) is compared between runs with the same component in that
    group; where the components differ, the name of the choice (data) stands for all of them.
    """
    keys = sorted({key for run in runs for key in run.settings})
    groups = {_root(key) for key in keys if "." in key}
    named = groups.intersection(keys)
    differing = [
        key
        for key in keys
        if not _ignored(key, named) and _differs(key, runs, is_group=key in groups)
    ]
    return _without_echoes(differing, runs)


def belongs_to_algorithm(key: str) -> bool:
    """Whether a key is compared only between runs of one algorithm."""
    return _root(key) in ALGORITHM_GROUPS or is_tuning(_root(key))


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


def runs_with(runs: list[Run], key: str, warn: Warn) -> list[Run]:
    """The runs that have a key; `warn` is called with the algorithms left out."""
    check_key(runs, key)
    for name in sorted({run.algorithm for run in runs if key not in run.settings}):
        warn(f"--x: left out runs of {name} that have no key {key}")
    return [run for run in runs if key in run.settings]


def check_key(runs: list[Run], key: str) -> None:
    """Refuses a key that no run has, and names the nearest one."""
    known = {name for run in runs for name in run.settings if not name.endswith("_target_")}
    if key not in known:
        raise UserError(f"--x: no run has the key {key!r}; {did_you_mean(key, sorted(known))}")


def _pool(pool: list[Run], keys: list[str]) -> Group:
    import pandas as pd

    tables: list[pd.DataFrame] = []
    taken: set[int] = set()
    for run in pool:
        tables.append(run.rows[~run.rows["seed"].isin(taken)])
        taken.update(run.seeds)
    varying = {key: pool[0].settings[key] for key in keys if key in pool[0].settings}
    return replace(pool[0], rows=pd.concat(tables, ignore_index=True), varying=varying)


def _identity(run: Run, keys: list[str]) -> Hashable:
    targets = [
        (key, run.settings[key])
        for key in sorted(run.settings)
        if key.endswith("._target_") and not _ignored(key, set())
    ]
    values = [run.settings.get(key) for key in keys]
    return run.algorithm, run.rounds, freeze(values), freeze(targets)


def _differs(key: str, runs: Sequence[Described], is_group: bool) -> bool:
    """Whether two runs of one algorithm differ in a key, or two of any that both have it."""
    by_algorithm: dict[str, list[Described]] = {}
    for run in runs:
        by_algorithm.setdefault(run.algorithm, []).append(run)
    if any(_takes_two_values(key, alike, is_group) for alike in by_algorithm.values()):
        return True
    having = [run for run in runs if key in run.settings]
    return not belongs_to_algorithm(key) and _takes_two_values(key, having, is_group)


def _takes_two_values(key: str, runs: Sequence[Described], is_group: bool) -> bool:
    """Whether runs with the same component differ in a key, or for a group, in the component."""
    target = f"{_root(key)}._target_"
    values: dict[Hashable, set[Hashable]] = {}
    for run in runs:
        component = None if is_group else freeze(run.settings.get(target))
        value = run.settings.get(target if is_group else key, "absent")
        values.setdefault(component, set()).add(freeze(value))
    return any(len(seen) > 1 for seen in values.values())


def _ignored(key: str, named: set[str]) -> bool:
    """Whether a key is not compared; a `_target_` is not where its group has a named choice."""
    parent, _, last = key.rpartition(".")
    by_name = last == "_target_" and parent in named
    return by_name or any(
        key == name or key.startswith((f"{name}.", f"{name}/")) for name in NOT_COMPARED
    )


def _without_echoes(keys: list[str], runs: Sequence[Described]) -> list[str]:
    """Drops keys that interpolate another one (polytope.dimension: ${data.items})."""
    first: dict[Hashable, str] = {}
    values = {key: freeze([run.settings.get(key) for run in runs]) for key in keys}
    sources = {key: first.setdefault(values[key], key) for key in keys}
    return [key for key in keys if sources[key] == key or _root(sources[key]) == _root(key)]


def _root(key: str) -> str:
    return key.partition(".")[0]
