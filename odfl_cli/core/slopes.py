"""How fast a positive quantity falls: the slope of a straight line on logarithmic axes."""

import numpy as np

from odfl_cli.core.statistics import mean_ci95


def loglog_slope(x: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """The slope of ln(mean over seeds) against ln x, and half its 95% interval over the seeds.

    `values` is [S, n]. The interval is the jackknife's: a single seed may be negative where only
    the mean of many is not, so that a slope of its own need not exist. NaN where the mean is not
    positive, or where there is one seed.
    """
    whole = _slope(x, values.mean(axis=0))
    if len(values) < 2:
        return whole, float("nan")
    without = [
        _slope(x, np.delete(values, seed, axis=0).mean(axis=0)) for seed in range(len(values))
    ]
    pseudo = len(values) * whole - (len(values) - 1) * np.array(without)
    return whole, float(mean_ci95(pseudo)[1])


def _slope(x: np.ndarray, mean: np.ndarray) -> float:
    if len(x) < 2 or not (mean > 0).all():
        return float("nan")
    return float(np.polyfit(np.log(x), np.log(mean), 1)[0])
