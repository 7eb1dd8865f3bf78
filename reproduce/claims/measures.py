"""Measures of a player on the runs of a sweep: leads, slopes, exponents, shares.

A claim binds the last arguments of a measure; it is evaluated on groups of runs and a player.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from odfl_cli.core.errors import UserError
from odfl_cli.core.statistics import mean_ci95, paired_differences
from odfl_cli.results.aggregation import by_seed, late_slope
from odfl_cli.results.aggregation import slope as slope_of
from odfl_cli.results.grouping import Group
from reproduce.claims.claim import Estimate
from reproduce.claims.evidence import Player, pick

Groups = list[Group]
Settings = dict[str, Any]


def lead(
    groups: Groups, player: Player, over: Player, column: str, settings: Settings | None = None
) -> Estimate:
    """The final value of a column of another player minus that of the player, paired by seed."""
    return _mean(_difference(pick(groups, over, settings), pick(groups, player, settings), column))


def excess(groups: Groups, player: Player, over: Player, column: str) -> Estimate:
    """The final value of a column of the player minus that of another, paired by seed."""
    return lead(groups, over, player, column)


def change_of_lead(
    groups: Groups, player: Player, over: Player, column: str, ends: tuple[Settings, Settings]
) -> Estimate:
    """The lead with the second settings minus that with the first."""
    early, late = (
        _difference(pick(groups, over, settings), pick(groups, player, settings), column)
        for settings in ends
    )
    return _mean(paired_differences(late, early))


def shift(groups: Groups, factor: float, player: Player, column: str, kappa: float) -> Estimate:
    """The increase of a column of a player if its decisions are `factor`·κ from the best."""
    inexact, exact = (pick(groups, player, {"kappa": k}) for k in (factor * kappa, 0.0))
    return _mean(_difference(inexact, exact, column))


def slope(groups: Groups, player: Player, column: str) -> Estimate:
    """The slope against t, on logarithmic axes, of a column of averages, without the first logged round.

    That round is in every average, so that even a player that does not learn would have a slope.
    """
    group = pick(groups, player)
    sums = by_seed(group, column).mul(by_seed(group, column).index, axis=0)
    rest = (sums - sums.iloc[0]).iloc[1:]
    return Estimate(*late_slope(rest.div(rest.index - sums.index[0], axis=0)), len(group.seeds))


def share_of_bound(groups: Groups, player: Player, column: str, owner: Player) -> Estimate:
    """The largest ratio of the player's column to the bound of `owner`, means over seeds, over t."""
    ours, bound = pick(groups, player), pick(groups, owner)
    paid, allowed = _by_round(ours, column), _by_round(bound, "avg_bound")
    return Estimate(float((paid / allowed).max()), float("nan"), len(ours.seeds))


def exponent(
    groups: Groups,
    player: Player,
    column: str,
    key: str,
    unit: Callable[[float], float] = lambda x: 1.0,
) -> Estimate:
    """The exponent of a column's final value, divided by `unit`(x), as a power of a key's values x."""
    found = _along(groups, player, key)
    return _exponent({x: group.final(column) / unit(x) for x, group in found.items()})


def exponent_beside_path(
    groups: Groups, player: Player, column: str, key: str, owner: Player, power: float
) -> Estimate:
    """The exponent of a column divided by ((1 + P_T)/T)^power, with the path length of `owner`."""
    ours, theirs = _along(groups, player, key), _along(groups, owner, key)
    unit = {T: ((1 + g.final("path_length")) / T) ** power for T, g in theirs.items()}
    return _exponent({T: group.final(column) / unit[T] for T, group in ours.items()})


def exponent_of_mean(
    groups: Groups, weights: dict[str, float], player: Player, key: str
) -> Estimate:
    """The exponent of a weighted sum of columns, averaged over the rounds."""

    def mean(rows: pd.DataFrame) -> pd.Series:
        total = pd.Series(sum(weight * rows[column] for column, weight in weights.items()))
        return total.groupby(rows["seed"]).mean()

    found = _along(groups, player, key)
    return _exponent({x: mean(group.rows) for x, group in found.items()})


def share_of_rises(groups: Groups, direction: int, player: Player) -> Estimate:
    """The share of steps between logged rounds in which (1 + P_t)/t rises; direction −1: P reversed."""
    path = by_seed(pick(groups, player), "path_length")
    t, P = path.index.to_numpy()[:, None], path.to_numpy()
    if direction < 0:
        t, P = t[-1] + t[0] - t[::-1], P[-1] - P[::-1]
    ratio = (1 + P) / t
    rises = np.diff(ratio, axis=0) > 1e-12 * ratio[:-1]
    return _mean(dict(enumerate(rises.mean(0))))


def slope_of_path(groups: Groups, equal_steps: bool, player: Player) -> Estimate:
    """The slope of P_t/t against t on logarithmic axes over the last nine tenths; P_t = t for equal steps."""
    group = pick(groups, player)
    path = by_seed(group, "path_length")
    late = path[path.index >= path.index.max() / 10]
    t = late.index.to_numpy(float)
    per_round = late.div(t, axis=0) if not equal_steps else 0.0 * late + 1.0
    return Estimate(*slope_of(per_round), len(group.seeds))


def _difference(first: Group, second: Group, column: str) -> dict[int, float]:
    return paired_differences(first.final(column), second.final(column))


def _mean(values: dict[int, float]) -> Estimate:
    """The mean of one value per seed."""
    if not values:
        raise UserError("claims: no seed has what is compared; see the columns of the runs")
    mean, ci95 = mean_ci95(np.array(list(values.values()), dtype=float))
    return Estimate(float(mean), float(ci95), len(values))


def _along(groups: Groups, player: Player, key: str) -> dict[float, Group]:
    """The groups of a player by the values of a key, ascending."""
    name = player if isinstance(player, str) else player[0]
    found = {float(g.settings[key]): g for g in groups if g.algorithm == name}
    return dict(sorted(found.items()))


def _exponent(values: dict[float, pd.Series]) -> Estimate:
    """The slope on logarithmic axes, over the seeds that all have."""
    table = pd.DataFrame(values).T.dropna(axis=1)
    return Estimate(*slope_of(table), table.shape[1])


def _by_round(group: Group, column: str) -> pd.Series:
    return group.rows.dropna(subset=[column]).groupby("t")[column].mean()
