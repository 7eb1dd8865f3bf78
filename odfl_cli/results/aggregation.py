"""Means over the seeds with 95% intervals, against the rounds or against a swept key."""

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from odfl_cli.core.statistics import loglog_slope, mean_ci95
from odfl_cli.results.grouping import Group, Settings, check_column, freeze, sort_key, without


@dataclass(frozen=True)
class Line:
    """A curve or a series of points of a figure; `points` has the columns x, seeds, mean, ci95."""

    algorithm: str
    varying: Settings
    points: pd.DataFrame
    by_seed: pd.DataFrame = field(default_factory=pd.DataFrame)  # a row per x, a column per seed
    facts: Settings = field(default_factory=dict)  # further columns of the figure's numbers


def curves(groups: list[Group], column: str) -> list[Line]:
    """The column against t, for each group with a round in which all its seeds have a value."""
    return [
        curve(group.algorithm, group.varying, table)
        for group in groups
        if column in group.columns and len(table := by_seed(group, column))
    ]


def curve(algorithm: str, varying: Settings, table: pd.DataFrame) -> Line:
    """The mean over the seeds (columns) and its interval in every round (row) of a table."""
    mean, ci95 = mean_ci95(table.to_numpy().T)
    points = {"x": table.index, "seeds": table.shape[1], "mean": mean, "ci95": ci95}
    return Line(algorithm, varying, pd.DataFrame(points), table)


def by_seed(group: Group, column: str) -> pd.DataFrame:
    """The column as a table: a row per round that every seed logged, a column per seed."""
    table = group.rows.pivot(index="t", columns="seed", values=column)
    return table.dropna(axis=1, how="all").dropna()


def bounded_regret(group: Group) -> str:
    """The column of the regret in the algorithm's theorem: static for DF-FTPL, dynamic for DF-OGD."""
    target = str(group.settings.get("algo._target_", ""))
    is_ftpl = group.algorithm == "df_ftpl" or target.endswith(".DFFTPL")
    return "avg_static_regret" if is_ftpl else "avg_dynamic_regret"


def slope(table: pd.DataFrame) -> tuple[float, float]:
    """The slope of a table by seed on logarithmic axes and its interval, over seeds with all x."""
    whole = table.dropna(axis=1)
    if whole.empty:
        return math.nan, math.nan
    return loglog_slope(whole.index.to_numpy(float), whole.to_numpy().T)


def late_slope(table: pd.DataFrame) -> tuple[float, float]:
    """The slope against t from t = √T on."""
    return slope(table[table.index >= math.sqrt(table.index.max())])


def sweep(groups: list[Group], key: str, column: str) -> list[Line]:
    """The column's final value against a key, for the groups that have both."""
    check_column(groups, column, "--y")
    return join_points(
        (group.algorithm, without(group.varying, key), group.settings[key], final)
        for group in groups
        if key in group.settings and len(final := group.final(column))
    )


def join_points(points: Iterable[tuple[str, Settings, Any, pd.Series]]) -> list[Line]:
    """Joins points (algorithm, settings, x, values by seed) to one line per algorithm and settings."""
    lines: dict[Hashable, tuple[str, Settings, dict[Any, pd.Series]]] = {}
    for algorithm, settings, x, values in points:
        place = x if sort_key(x)[0] == 0 else "null" if x is None else str(x)
        identity = algorithm, freeze(settings)
        lines.setdefault(identity, (algorithm, settings, {}))[2][place] = values
    return [_line(*parts) for parts in lines.values()]


def _line(algorithm: str, settings: Settings, finals: dict[Any, pd.Series]) -> Line:
    finals = {x: finals[x] for x in sorted(finals, key=sort_key)}
    rows = [(x, len(v), *map(float, mean_ci95(v.to_numpy()))) for x, v in finals.items()]
    points = pd.DataFrame(rows, columns=["x", "seeds", "mean", "ci95"])
    return Line(algorithm, settings, points, pd.DataFrame(finals).T)


def tabulate(lines: list[Line], x: str) -> pd.DataFrame:
    """The numbers of a figure: algorithm, differing keys, x, seeds, mean, ci95, and further facts."""
    keys = sorted({key for line in lines for key in line.varying})
    tables = []
    for line in lines:
        named = {key: str(line.varying.get(key, "")) for key in keys}
        points = line.points.rename(columns={"x": x})
        tables.append(pd.DataFrame({"algorithm": line.algorithm, **named, **points, **line.facts}))
    return pd.concat(tables, ignore_index=True)
