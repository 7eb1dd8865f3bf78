"""The empirical rate: the slope of average regret against the horizon on log-log axes."""

from typing import NamedTuple

import numpy as np

from odfl_cli.confidence import mean_ci95


class Slope(NamedTuple):
    """A mean over seeds with the half-width of its 95% Student interval."""

    slope: float
    ci95: float
    seeds: int  # those whose regret is positive at every horizon


def slope(horizons: np.ndarray, average_regret: np.ndarray) -> Slope:
    """Fits ln(regret / T) against ln T, seed by seed; average_regret is [S, horizons].

    A regret that is not positive has no logarithm: such seeds are left out and not counted.
    """
    usable = average_regret[(average_regret > 0).all(-1)]
    if not len(usable):
        return Slope(np.nan, np.nan, 0)
    x = np.log(np.asarray(horizons, dtype=float))
    x = x - x.mean()
    slopes = (np.log(usable) * x).sum(-1) / (x**2).sum()
    mean, half = mean_ci95(slopes)
    return Slope(float(mean), float(half), len(usable))
