"""Means over seeds, slopes on logarithmic axes, their intervals, and sequential decisions."""

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cache
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, TypedDict

import numpy as np

TIGHTEST = 200
"""The number of samples at which `always_valid` is narrowest relative to a fixed interval."""


def mean_ci95(samples: np.ndarray, axis: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Mean and half-width of the 95% Student interval along `axis`; NaN for a single sample."""
    count = samples.shape[axis]
    mean = samples.mean(axis=axis)
    if count < 2:
        return mean, np.full_like(mean, np.nan)
    spread = samples.std(axis=axis, ddof=1) / np.sqrt(count)
    return mean, student_quantile(count - 1) * spread


class Interval(TypedDict):
    """A mean over seeds and the half-width of its 95% interval; a single seed has none."""

    mean: float
    ci95: float | None


def interval(values: Iterable[float]) -> Interval:
    """The mean of one value per seed and its interval."""
    mean, ci95 = mean_ci95(np.array(list(values), dtype=float))
    return {"mean": float(mean), "ci95": None if np.isnan(ci95) else float(ci95)}


def paired_differences(first: Any, second: Any) -> dict[int, Any]:
    """Seed → first − second for every seed that both have, ascending; of mappings, Series or tables."""
    shared = set(first.keys()) & set(second.keys())
    return {int(seed): first[seed] - second[seed] for seed in sorted(shared)}


def always_valid(deviation: float, count: int, error: float) -> float:
    """Half the width of an interval for a mean that is valid for all counts at once.

    The asymptotic confidence sequence of the normal mixture (Waudby-Smith et al., arXiv
    2103.06476): even if one looks after every sample and stops at will, the mean lies outside
    with probability `error` at most. `deviation` is that of the first `count` samples.
    """
    log = -2 * math.log(error)
    rho = (log + math.log(log) + 1) / TIGHTEST  # ρ²
    spread = count * rho + 1
    return deviation * math.sqrt(
        2 * spread / (count**2 * rho) * math.log(math.sqrt(spread) / error)
    )


class Decision(NamedTuple):
    """The verdict of paired differences on their mean."""

    verdict: Literal["less", "more", "equal", "undecided"]
    seeds: int
    mean: float
    half: float  # of the interval mean ± half
    more: int = 0  # an estimate of how many more are needed, where it is undecided


def decide(
    differences: Sequence[float], looks: Iterable[int], margin: float, error: float
) -> Decision:
    """The first verdict among the looks (numbers of differences), or that of the last look.

    *less*: the interval is below 0; *more*: above; *equal*: within ± margin.
    """
    found = Decision("undecided", 0, math.nan, math.inf)
    for count in looks:
        values = np.array(differences[:count], dtype=float)
        mean, deviation = float(values.mean()), float(values.std(ddof=1))
        half = always_valid(deviation, count, error)
        if abs(mean) > half:
            return Decision("less" if mean < 0 else "more", count, mean, half)
        if abs(mean) + half <= margin:
            return Decision("equal", count, mean, half)
        room = max(abs(mean), margin - abs(mean), 1e-12)
        found = Decision("undecided", count, mean, half, count_for(room, deviation, error) - count)
    return found


def count_for(half: float, deviation: float, error: float) -> int:
    """The number of samples from which an interval is narrower than ± half; a billion at most."""
    counts = range(1, 10**9)
    return (
        bisect_left(counts, True, key=lambda count: always_valid(deviation, count, error) < half)
        + 1
    )


@cache
def student_quantile(freedom: int) -> float:
    """t with P(|T| ≤ t) = 0.95, by bisection; importing scipy would take longer than a run."""
    if freedom > 10_000:
        z = NormalDist().inv_cdf(0.975)
        return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    low, high = 1.9, 12.8
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if central_probability(middle, freedom) < 0.95 else (low, middle)
    return (low + high) / 2


def central_probability(t: float, freedom: int) -> float:
    """P(|T| ≤ t) for whole degrees of freedom (Abramowitz & Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    square = math.cos(angle) ** 2
    term = math.cos(angle) if freedom % 2 else 1.0
    total = 0.0
    for k in range(1 + freedom % 2, freedom, 2):
        total += term
        term *= square * k / (k + 1)
    if freedom % 2:
        return 2 / math.pi * (angle + math.sin(angle) * total)
    return math.sin(angle) * total


def loglog_slope(x: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """The slope of ln(mean over seeds) against ln x, and half its 95% interval over the seeds.

    `values` is [S, n]. The interval is the jackknife's, since a single seed may have negative values
    and hence no slope although the mean of many has one. NaN where the mean is not
    positive, or where there is one seed.
    """
    seeds = len(values)
    without = [np.delete(values, seed, axis=0).mean(axis=0) for seed in range(seeds) if seeds > 1]
    whole, *others = _slopes(x, np.array([values.mean(axis=0), *without]))
    if not others:
        return float(whole), float("nan")
    pseudo = seeds * whole - (seeds - 1) * np.array(others)
    return float(whole), float(mean_ci95(pseudo)[1])


def _slopes(x: np.ndarray, means: np.ndarray) -> np.ndarray:
    """The least-squares slope of every row of `means`; NaN where a mean is not positive."""
    slopes = np.full(len(means), np.nan)
    positive = (means > 0).all(axis=1)
    if len(x) > 1:
        centred = np.log(x) - np.log(x).mean()
        slopes[positive] = np.log(means[positive]) @ centred / (centred @ centred)
    return slopes
