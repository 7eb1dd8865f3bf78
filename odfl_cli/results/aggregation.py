"""From runs to numbers: means with 95% intervals, paired gaps, sweeps."""

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from odfl_cli.core.errors import UserError
from odfl_cli.core.statistics import loglog_slope, mean_ci95
from odfl_cli.results.grouping import Group, Settings, freeze, sort_key


@dataclass(frozen=True)
class Line:
    """One curve or one series of points of a figure; `points` has the columns x, seeds, mean, ci95."""

    algorithm: str
    varying: Settings
    points: pd.DataFrame
    by_seed: pd.DataFrame = field(
        default_factory=pd.DataFrame
    )  # of a curve: a row per round, a column per seed


def curves(groups: list[Group], column: str) -> list[Line]:
    """The column against t for each group that has it."""
    tables = [(group, by_seed(group, column)) for group in groups_with(groups, column)]
    return [Line(group.algorithm, group.varying, curve(table), table) for group, table in tables]


def groups_with(groups: list[Group], column: str) -> list[Group]:
    """The groups that have values in the column."""
    return [group for group in groups if column in group.columns]


def bounded_regret(group: Group) -> str:
    """The regret that the algorithm's theorem is about: static for DF-FTPL, dynamic for DF-OGD."""
    target = str(group.settings.get("algo._target_", ""))
    is_ftpl = group.algorithm == "df_ftpl" or target.endswith(".DFFTPL")
    return "avg_static_regret" if is_ftpl else "avg_dynamic_regret"


def curve_slope(table: pd.DataFrame) -> tuple[float, float]:
    """The slope of a table by seed on logarithmic axes, from t = √T on, and its interval."""
    late = table[table.index >= math.sqrt(table.index.max())]
    return loglog_slope(late.index.to_numpy(), late.to_numpy().T)


def sweep_slopes(groups: list[Group], key: str, column: str) -> dict[str, tuple[float, float]]:
    """Algorithm → the slope of final values against a key, over the seeds that all its runs have."""
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
    return join_points(
        (group.algorithm, without(group.varying, key), point(group.settings[key], final))
        for group in groups
        if key in group.settings and len(final := group.final(column))
    )


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
        tables.append(pd.DataFrame({**named, **points}))
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


def curve(table: pd.DataFrame) -> pd.DataFrame:
    """The mean over the seeds and its interval in every round of a table with a column per seed."""
    mean, ci95 = mean_ci95(table.to_numpy().T)
    return pd.DataFrame({"x": table.index, "seeds": table.shape[1], "mean": mean, "ci95": ci95})


def by_seed(group: Group, column: str) -> pd.DataFrame:
    """A row per round that every seed logged, as pooled runs may not all have, a column per seed."""
    rounds, seeds, places = group.grid
    values = np.full((len(rounds), len(seeds)), np.nan)
    values[places] = group.rows[column]
    having = ~np.isnan(values).all(axis=0)
    logged = ~np.isnan(values[:, having]).any(axis=1)
    return pd.DataFrame(
        values[logged][:, having],
        index=pd.Index(rounds[logged], name="t"),
        columns=pd.Index(seeds[having], name="seed"),
    )


def point(x: Any, values: pd.Series) -> pd.DataFrame:
    """The mean of a value per seed and its interval, at one x."""
    mean, ci95 = map(float, mean_ci95(values.to_numpy()))
    place = x if sort_key(x)[0] == 0 else "null" if x is None else str(x)
    return pd.DataFrame({"x": [place], "seeds": [len(values)], "mean": [mean], "ci95": [ci95]})


def join_points(points: Iterable[tuple[str, Settings, pd.DataFrame]]) -> list[Line]:
    """Points of the same algorithm and settings as one line, sorted along x."""
    lines: dict[Hashable, tuple[str, Settings, list[pd.DataFrame]]] = {}
    for algorithm, settings, point in points:
        identity = algorithm, freeze(sorted(settings.items()))
        lines.setdefault(identity, (algorithm, settings, []))[2].append(point)
    return [
        Line(algorithm, settings, _sorted(pd.concat(parts, ignore_index=True)))
        for algorithm, settings, parts in lines.values()
    ]


def _sorted(points: pd.DataFrame) -> pd.DataFrame:
    order = sorted(points.index, key=lambda row: sort_key(points["x"][row]))
    return points.loc[order].reset_index(drop=True)


def without(settings: Settings, key: str) -> Settings:
    """The settings without one key."""
    return {name: value for name, value in settings.items() if name != key}
