"""The mean of one long path and its 95% interval, by the moving-block bootstrap over time.

Blocks preserve the dependence between neighbouring rounds. Their length follows the rule of Politis &
White (Econometric Reviews 23, 2004) as corrected by Patton, Politis & White (ibid. 28, 2009).
"""

import math
from typing import NamedTuple

import numpy as np

from odfl_cli.core.statistics import student_quantile

SHORTEST = 16  # a path with fewer rounds has no interval


class PathMean(NamedTuple):
    """A mean over time and the half-width of its 95% interval, NaN for a path too short for one."""

    mean: float
    ci95: float
    block: int  # rounds of a block


def path_mean(series: np.ndarray, block: int | None = None) -> PathMean:
    """The mean of a path [T] with blocks of `block` rounds, by default chosen by `block_length`.

    The bootstrap draws T/b blocks of b rounds with replacement. The variance of their mean is the
    variance of one block's mean over all T − b + 1 blocks, times b/T, so nothing needs to be drawn.
    The factor 1/(1 − b/T) corrects for block means being taken about the mean of the path that contains
    them; Student's quantile accounts for the small number of blocks.
    """
    count, mean = len(series), float(np.mean(series))
    if count < SHORTEST:
        return PathMean(mean, math.nan, 1)
    length = block_length(series) if block is None else block
    if not 1 <= length <= count // 3:
        raise ValueError(f"a block of {length} rounds in a path of {count}: at most a third")
    sums = np.concatenate([[0.0], np.cumsum(series - mean)])
    means = (sums[length:] - sums[:-length]) / length
    variance = np.mean(means**2) * length / count / (1.0 - length / count)
    return PathMean(
        mean, student_quantile(count // length - 1) * math.sqrt(float(variance)), length
    )


def block_length(series: np.ndarray) -> int:
    """b = (2 G² / D)^(1/3) T^(1/3), between 1 and min(3 √T, T/3).

    G = Σ_k λ(k/M) |k| R_k and D = 4/3 (Σ_k λ(k/M) R_k)² with the autocovariances R_k and a window λ
    that is flat up to 1/2 and falls linearly to 0 at 1. M is twice the lag after which the
    autocorrelations of several lags in a row do not differ from 0.
    """
    count, run = len(series), max(5, math.ceil(math.sqrt(math.log10(len(series)))))
    longest = math.ceil(math.sqrt(count)) + run
    covariance = autocovariances(series, min(longest, count - 1))
    if not covariance[0] > 0.0:  # a constant path, or one that is not finite
        return 1
    small = np.abs(covariance / covariance[0]) < 2.0 * math.sqrt(math.log10(count) / count)
    wide = min(2 * max(_lags_that_count(small, run), 1), len(covariance) - 1)
    k = np.arange(1, wide + 1)
    weights = np.clip(2.0 * (1.0 - k / wide), 0.0, 1.0) * covariance[1 : wide + 1]
    G, spectrum = 2.0 * np.sum(k * weights), covariance[0] + 2.0 * np.sum(weights)
    most = max(1, min(math.ceil(3.0 * math.sqrt(count)), count // 3))
    if spectrum <= 0.0:
        return most
    best = (1.5 * G**2 / spectrum**2 * count) ** (1.0 / 3.0)
    return int(min(max(1, math.ceil(best)), most))


def _lags_that_count(small: np.ndarray, run: int) -> int:
    """The first lag that is followed by `run` lags with small autocorrelations, else the last large one."""
    for lag in range(len(small) - run):
        if small[lag + 1 : lag + 1 + run].all():
            return lag
    return int(np.flatnonzero(~small)[-1])


def autocovariances(series: np.ndarray, longest: int) -> np.ndarray:
    """R_0, …, R_longest about the mean, each divided by T."""
    centred, count = series - series.mean(), len(series)
    return np.array([centred[: count - k] @ centred[k:] / count for k in range(longest + 1)])
