"""The exact minimum of realised costs along a line of parameters: the linear model on the simplex.

On the line θ + s·d the prediction of every item is a line in s, and the item that is played is the
lowest of K lines: a concave envelope. Between its corners, over all rounds, the cost is constant.
"""

import numpy as np

from odfl_cli.environments.base import Rounds

NARROW = 1e-13
"""A piece of the line that spans no larger angle may be rounding alone."""


def lowest_piece(
    rounds: Rounds, theta: np.ndarray, direction: np.ndarray, reach: float
) -> tuple[float, float]:
    """(min_s Σ_n f_n(θ + s·d) over |s| ≤ reach ≤ ∞, arctan s in the middle of the piece that attains it)."""
    level, slope = np.einsum("ndp,lp->lnd", rounds.X, np.stack([theta, direction]))
    start, at, jump = find_corners(level, slope, rounds.costs, reach)
    order = np.argsort(at, kind="stable")
    totals = np.cumsum(np.concatenate([[start], jump[order]]))
    angles = np.arctan(np.concatenate([[-reach], at[order], [reach]]))
    best = np.where(np.diff(angles) > NARROW, totals, np.inf).argmin()
    return float(totals[best]), float(angles[best : best + 2].mean())


def find_corners(
    level: np.ndarray, slope: np.ndarray, costs: np.ndarray, reach: float
) -> tuple[float, np.ndarray, np.ndarray]:
    """(the total cost at −reach, every s up to reach where an item changes, what the cost changes by there).

    The envelope is concave: a line that is lowest at both ends is so in between. Of several lines
    that cross the present one in one point, the envelope follows the least steep.
    """
    played, last = lowest_lines(level, slope, -reach), lowest_lines(level, slope, reach)
    start = np.take_along_axis(costs, played[:, None], -1).sum()
    corners, jumps, rows = [np.empty(0)], [np.empty(0)], np.flatnonzero(played != last)
    while len(rows):
        before = played[rows]
        less_steep = slope[rows, before][:, None] - slope[rows]
        with np.errstate(all="ignore"):
            crossing = (level[rows] - level[rows, before][:, None]) / less_steep
        crossing[less_steep <= 0] = np.inf
        at = crossing.min(-1)
        played[rows] = np.where(crossing == at[:, None], slope[rows], np.inf).argmin(-1)
        inside = at < reach
        rows, before = rows[inside], before[inside]
        corners.append(at[inside])
        jumps.append(costs[rows, played[rows]] - costs[rows, before])
        rows = rows[played[rows] != last[rows]]
    return start, np.concatenate(corners), np.concatenate(jumps)


def lowest_lines(level: np.ndarray, slope: np.ndarray, s: float) -> np.ndarray:
    """The item played at s in every round, [N]; at ±∞ that of the steepest line, the lowest if several."""
    if np.isfinite(s):
        return (level + s * slope).argmin(-1)
    steep = np.sign(s) * slope
    return np.where(steep == steep.min(-1, keepdims=True), level, np.inf).argmin(-1)
