"""Curves, thinned to what a page can hold: means with intervals, and seeds where there is room."""

from typing import Any, NamedTuple

from odfl_cli.core.statistics import mean_ci95
from odfl_cli.report.arrays import Arrays, thin
from odfl_cli.report.facts import DECISIONS
from odfl_cli.results.aggregation import by_seed
from odfl_cli.results.grouping import Group
from odfl_cli.results.summary import CUMULATIVE

MEAN_NUMBERS, SEED_NUMBERS = 90_000, 48_000  # of the page: some 250 and 150 kB
MOST_POINTS, FEWEST_POINTS = 240, 24  # of a curve
NOT_CURVES = {"t", "seed", *DECISIONS, *(f"avg_{name}" for name in CUMULATIVE)}
"""The page computes averages from sums."""
FIRST = ("avg_cost", "avg_mse", "regret", "dynamic_regret", "static_regret")
"""Columns whose seeds come first where there is no room for all."""


class CurveRoom(NamedTuple):
    """Points of a mean, points of a seed, the columns that have seeds, the groups that have curves."""

    mean_points: int
    seed_points: int
    seed_columns: frozenset[str]
    drawn: frozenset[int]  # by their identity

    @classmethod
    def share(cls, groups: list[Group]) -> "CurveRoom":
        """As fine as all curves together may be; of too many groups, the first ones."""
        widest = max((len(curve_columns(group)) for group in groups), default=1)
        groups = groups[: max(1, MEAN_NUMBERS // (2 * FEWEST_POINTS * max(1, widest)))]
        names = dict.fromkeys(column for group in groups for column in curve_columns(group))
        shown = sorted(names, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
        seeds = {
            name: sum(len(group.seeds) for group in groups if name in group.columns)
            for name in shown
        }
        means = 2 * sum(len(curve_columns(group)) for group in groups)
        mean_points = min(MOST_POINTS, max(FEWEST_POINTS, MEAN_NUMBERS // max(means, 1)))
        while shown and sum(seeds[name] for name in shown) * FEWEST_POINTS > SEED_NUMBERS:
            shown.pop()
        seed_points = SEED_NUMBERS // max(sum(seeds[name] for name in shown), 1)
        drawn = frozenset(map(id, groups))
        return cls(mean_points, min(mean_points, seed_points), frozenset(shown), drawn)


def curve_columns(group: Group) -> list[str]:
    """The columns that are drawn against the rounds."""
    return [name for name in group.columns if name not in NOT_CURVES]


def pack_curves(group: Group, arrays: Arrays, room: CurveRoom) -> dict[str, Any]:
    """By column: rounds, mean, half the 95% interval, and seeds on rounds of their own."""
    if id(group) not in room.drawn:
        return {}
    return {column: _pack(group, column, arrays, room) for column in curve_columns(group)}


def _pack(group: Group, column: str, arrays: Arrays, room: CurveRoom) -> dict[str, Any]:
    table = by_seed(group, column)
    values, rounds = table.to_numpy(float), table.index.to_numpy()
    places = thin(len(rounds), room.mean_points)
    mean, ci95 = mean_ci95(values[places].T)
    curve: dict[str, Any] = {"t": arrays.add(rounds[places]), "mean": arrays.add(mean)}
    if values.shape[1] > 1:
        curve["ci95"] = arrays.add(ci95)
    if column in room.seed_columns:
        places = thin(len(rounds), room.seed_points)
        curve["seedT"] = arrays.add(rounds[places])
        seeds = table.columns.astype(int)
        curve["seeds"] = {int(s): arrays.add(values[places, i]) for i, s in enumerate(seeds)}
    return curve
