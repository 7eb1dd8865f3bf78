"""Curves thin_rounds to what a page can hold: means with intervals, and seeds where there is room."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from odfl_cli.core.statistics import mean_ci95
from odfl_cli.report.arrays import Arrays
from odfl_cli.report.decisions import DECISIONS
from odfl_cli.results.aggregation import by_seed, groups_with
from odfl_cli.results.grouping import Group
from odfl_cli.results.summary import CUMULATIVE

MEAN_NUMBERS, SEED_NUMBERS = 90_000, 48_000  # of the page: some 250 and 150 kB
MOST_POINTS, FEWEST_POINTS = 240, 24  # of a curve
NOT_CURVES = {"t", "seed", *DECISIONS, *(f"avg_{name}" for name in CUMULATIVE)}
"""The page computes averages from sums."""
FIRST = ("avg_cost", "avg_mse", "regret", "dynamic_regret", "static_regret")
"""Columns whose seeds come first where there is no room for all."""


@dataclass(frozen=True)
class CurveRoom:
    """Points of a mean, points of a seed and the columns that have seeds."""

    mean_points: int
    seed_points: int
    seed_columns: frozenset[str]
    drawn: frozenset[int]  # the identities of the groups that have curves

    @classmethod
    def of(cls, groups: list[Group]) -> "CurveRoom":
        """As fine as all curves together may be; of too many groups, the first ones."""
        per_group = 2 * FEWEST_POINTS * max(1, len(_ordered(groups)))
        groups = groups[: max(1, MEAN_NUMBERS // per_group)]
        columns = {column: groups_with(groups, column) for column in _ordered(groups)}
        means = sum(2 * len(drawn) for drawn in columns.values())
        mean_points = min(MOST_POINTS, max(FEWEST_POINTS, MEAN_NUMBERS // max(means, 1)))
        kept, seeds = list(columns), 0
        while kept:
            seeds = sum(len(group.seeds) for column in kept for group in columns[column])
            if seeds * FEWEST_POINTS <= SEED_NUMBERS:
                break
            kept.pop()
        seed_points = min(mean_points, SEED_NUMBERS // max(seeds, 1))
        drawn = frozenset(map(id, groups))
        return cls(mean_points, seed_points, frozenset(kept), drawn)


def curve_columns(group: Group) -> list[str]:
    """The columns that are drawn against the rounds."""
    return [name for name in group.columns if name not in NOT_CURVES]


def pack_curves(group: Group, arrays: Arrays, room: CurveRoom) -> dict[str, Any]:
    """By column: rounds, mean, half the 95% interval, and seeds on rounds of their own."""
    if id(group) not in room.drawn:
        return {}
    return {column: _pack(group, column, arrays, room) for column in curve_columns(group)}


def thin_rounds(rounds: np.ndarray, points: int) -> np.ndarray:
    """Places of at most so many rounds, evenly spread, the first and the last among them."""
    if len(rounds) <= points:
        return np.arange(len(rounds))
    return np.unique(np.linspace(0, len(rounds) - 1, points).round().astype(int))


def _pack(group: Group, column: str, arrays: Arrays, room: CurveRoom) -> dict[str, Any]:
    table = by_seed(group, column)
    values, rounds = table.to_numpy(float), table.index.to_numpy()
    places = thin_rounds(rounds, room.mean_points)
    mean, ci95 = mean_ci95(values[places].T)
    curve: dict[str, Any] = {"t": arrays.add(rounds[places]), "mean": arrays.add(mean)}
    if values.shape[1] > 1:
        curve["ci95"] = arrays.add(ci95)
    if column in room.seed_columns:
        places = thin_rounds(rounds, room.seed_points)
        curve["seedT"] = arrays.add(rounds[places])
        seeds = table.columns.astype(int)
        curve["seeds"] = {int(s): arrays.add(values[places, i]) for i, s in enumerate(seeds)}
    return curve


def _ordered(groups: list[Group]) -> list[str]:
    names = dict.fromkeys(column for group in groups for column in curve_columns(group))
    return sorted(names, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
