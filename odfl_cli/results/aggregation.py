"""From runs to numbers: means with 95% intervals, paired gaps, sweeps."""

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from odfl_cli.core.errors import UserError
from odfl_cli.core.statistics import loglog_slope, mean_ci95
from odfl_cli.results.grouping import Group, Settings, frozen, is_own


@dataclass(frozen=True)
class Line:
    """What a figure draws in one colour. `points` has the columns x, seeds, mean, ci95."""

    algorithm: str
    varying: Settings
    points: pd.DataFrame


def curves(groups: list[Group], column: str) -> list[Line]:
    """The column against t for each group that has it."""
    return [
        Line(group.algorithm, group.varying, _curve(group, column))
        for group in groups
        if column in group.rows and group.rows[column].notna().any()
    ]


def curve_slope(group: Group, column: str) -> tuple[float, float]:
    """The slope of the column against t on logarithmic axes, from t = √T on, and its interval."""
    by_seed = _by_seed(group, column)
    late = by_seed[by_seed.index >= math.sqrt(group.rounds)]
    return loglog_slope(late.index.to_numpy(), late.to_numpy().T)


def sweep_slopes(groups: list[Group], key: str, column: str) -> dict[str, tuple[float, float]]:
    """The same for final values against a key, per algorithm, over the seeds that all runs have."""
    finals: dict[str, dict[float, pd.Series]] = {}
    for group in groups:
        if sort_key(group.settings.get(key))[0] == 0 and len(group.final(column)):
            by_value = finals.setdefault(group.algorithm, {})
            by_value[float(group.settings[key])] = group.final(column)
    if smallest := [x for values in finals.values() for x in values if x <= 0]:
        raise UserError(f"{key}={min(smallest):g}: on logarithmic axes it should be above 0")
    tables = {name: pd.DataFrame(values).dropna() for name, values in finals.items()}
    return {
        name: loglog_slope(table.columns.to_numpy(float), table.to_numpy())
        for name, table in tables.items()
        if len(table)
    }


def sweep(groups: list[Group], key: str, column: str) -> list[Line]:
    """The column's final value against a key, for the groups that have both."""
    check_column(groups, column)
    return _joined(
        (group.algorithm, _without(group.varying, key), _point(group.settings[key], final))
        for group in groups
        if key in group.settings and len(final := group.final(column))
    )


def gaps(
    groups: list[Group], first: str, second: str, column: str, key: str | None = None
) -> list[Line]:
    """Paired differences first − second of the column's final value, against a key if given.

    Without a key every pair is a line of one point, whose x is 0.
    """
    check_column(groups, column)
    pairs = _pairs(
        [group for group in groups if group.algorithm == first],
        [group for group in groups if group.algorithm == second],
    )
    if key is None:
        return _joined(
            (f"{first}:{second}", _varying(*pair), _gap(*pair, column, 0)) for pair in pairs
        )
    places = [(pair, {**pair[1].settings, **pair[0].settings, **_varying(*pair)}) for pair in pairs]
    lines = _joined(
        (f"{first}:{second}", _without(_varying(*pair), key), _gap(*pair, column, place[key]))
        for pair, place in places
        if key in place
    )
    if not lines:
        raise UserError(f"--x: runs of {first} and {second} have no key {key!r}")
    return lines


def tabulate(lines: list[Line], x: str) -> pd.DataFrame:
    """The numbers of a figure: algorithm, differing keys, x, seeds, mean, ci95."""
    keys = sorted({key for line in lines for key in line.varying})
    tables = []
    for line in lines:
        named = {
            "algorithm": line.algorithm,
            **{key: str(line.varying.get(key, "")) for key in keys},
        }
        points = line.points.rename(columns={"x": x})
        tables.append(pd.DataFrame(named, index=points.index).join(points))
    return pd.concat(tables, ignore_index=True)


def check_column(groups: list[Group], column: str) -> None:
    """Refuses a column that no run has to its end, and lists those there are."""
    known = dict.fromkeys(str(name) for group in groups for name in group.rows.columns)
    columns = [
        name
        for name in known
        if name not in ("t", "seed") and any(len(group.final(name)) for group in groups)
    ]
    if column not in columns:
        raise UserError(f"--y: no run has the column {column!r}; there are {', '.join(columns)}")


def _curve(group: Group, column: str) -> pd.DataFrame:
    """Over the rounds that every seed logged: pooled runs may have logged different ones."""
    by_seed = _by_seed(group, column)
    mean, ci95 = mean_ci95(by_seed.to_numpy().T)
    return pd.DataFrame({"x": by_seed.index, "seeds": by_seed.shape[1], "mean": mean, "ci95": ci95})


def _by_seed(group: Group, column: str) -> pd.DataFrame:
    table = group.rows.pivot(index="t", columns="seed", values=column)
    return table.dropna(axis=1, how="all").dropna()


def _point(x: Any, values: pd.Series) -> pd.DataFrame:
    mean, ci95 = map(float, mean_ci95(values.to_numpy()))
    place = x if sort_key(x)[0] == 0 else "null" if x is None else str(x)
    return pd.DataFrame({"x": [place], "seeds": [len(values)], "mean": [mean], "ci95": [ci95]})


def _gap(first: Group, second: Group, column: str, x: Any) -> pd.DataFrame:
    difference = (first.final(column) - second.final(column)).dropna()
    if difference.empty:
        raise UserError(
            f"--gap {first.algorithm}:{second.algorithm} compares seed by seed, "
            "and the two have no seed in common"
        )
    return _point(x, difference)


def _joined(points: Iterable[tuple[str, Settings, pd.DataFrame]]) -> list[Line]:
    """Points of the same algorithm and settings as one line, sorted along x."""
    lines: dict[Hashable, tuple[str, Settings, list[pd.DataFrame]]] = {}
    for algorithm, settings, point in points:
        identity = algorithm, frozen(sorted(settings.items()))
        lines.setdefault(identity, (algorithm, settings, []))[2].append(point)
    return [
        Line(algorithm, settings, _sorted(pd.concat(parts, ignore_index=True)))
        for algorithm, settings, parts in lines.values()
    ]


def _sorted(points: pd.DataFrame) -> pd.DataFrame:
    order = sorted(points.index, key=lambda row: sort_key(points["x"][row]))
    return points.loc[order].reset_index(drop=True)


def sort_key(value: Any) -> tuple[int, float, str]:
    """Orders numbers by size and before everything else."""
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        return 0, float(value), ""
    return 1, 0.0, str(value)


def _pairs(ours: list[Group], theirs: list[Group]) -> list[tuple[Group, Group]]:
    """Groups that agree in all that differs, but for the algorithms' own settings.

    An algorithm's own key must agree too if both were swept over the same values of it.
    """
    keys = {key for group in [*ours, *theirs] for key in group.varying}
    shared = [key for key in keys if not is_own(key) or _values(ours, key) == _values(theirs, key)]
    pairs = [
        (a, b)
        for a in ours
        for b in theirs
        if all(a.varying.get(key) == b.varying.get(key) for key in shared)
    ]
    if not pairs:
        names = f"{ours[0].algorithm}:{theirs[0].algorithm}"
        raise UserError(f"--gap {names}: no run of one has the settings of a run of the other")
    return pairs


def _values(groups: list[Group], key: str) -> set[Hashable]:
    return {frozen(group.varying.get(key)) for group in groups}


def _without(settings: Settings, key: str) -> Settings:
    return {name: value for name, value in settings.items() if name != key}


def _varying(first: Group, second: Group) -> Settings:
    """What tells a pair from the other pairs; a key that both have swept for itself says whose."""
    theirs = {
        f"{second.algorithm} {key}" if first.varying.get(key, value) != value else key: value
        for key, value in second.varying.items()
    }
    return {**theirs, **first.varying}
