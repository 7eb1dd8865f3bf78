"""Drift detection: a lasting rise of the cost of the decisions minus that of a naive policy.

Page, *Continuous Inspection Schemes*, Biometrika 41, 1954; Hinkley, *Inference about the Change-point
from Cumulative Sum Tests*, Biometrika 58, 1971.
"""

import math
from typing import Any, NamedTuple

import numpy as np

FEWEST = 30  # rounds before the mean and the deviation are used
SLACK, ALARM = 0.1, 50.0  # in deviations: a rise to ignore, and a sum that raises an alarm
ROUNDING = 1e-14  # a variance below this share of the mean square counts as 0


class PageHinkley(NamedTuple):
    """Sums since the last alarm: when total = Σ_s ((x_s − mean)/deviation − SLACK) is ALARM above its minimum."""

    seen: int = 0
    origin: float = 0.0  # the first number; sums of differences from it lose fewer digits
    first: float = 0.0  # Σ (x − origin)
    second: float = 0.0  # Σ (x − origin)²
    total: float = 0.0
    lowest: float = 0.0

    def after(self, xs: np.ndarray) -> tuple["PageHinkley", bool]:
        """The sums after the next numbers [n], and whether one of them raises an alarm."""
        if len(xs) == 1:
            return self._after_one(float(xs[0]))
        origin = self.origin if self.seen else float(xs[0])
        count, y = np.arange(self.seen + 1, self.seen + 1 + len(xs)), xs - origin
        first, second = add_up(self.first, y), add_up(self.second, y * y)
        mean, square = first / count, second / count
        variance = square - mean * mean
        known = (count > FEWEST) & (variance > ROUNDING * square)
        deviation = np.sqrt(np.where(known, variance, 1.0))
        total = add_up(self.total, np.where(known, (y - mean) / deviation - SLACK, 0.0))
        lowest = np.minimum(np.minimum.accumulate(total), self.lowest)
        alarms = (total - lowest > ALARM).nonzero()[0]
        if alarms.size:
            rest = xs[alarms[0] + 1 :]
            return (PageHinkley().after(rest)[0] if rest.size else PageHinkley()), True
        sums = (float(values[-1]) for values in (first, second, total, lowest))
        return PageHinkley(self.seen + len(xs), origin, *sums), False

    def _after_one(self, x: float) -> tuple["PageHinkley", bool]:
        """The same for one number, ten times faster."""
        seen, origin = self.seen + 1, self.origin if self.seen else x
        y = x - origin
        first, second, total = self.first + y, self.second + y * y, self.total
        mean, square = first / seen, second / seen
        variance = square - mean * mean
        if seen > FEWEST and variance > ROUNDING * square:
            total += (y - mean) / math.sqrt(variance) - SLACK
        lowest = min(self.lowest, total)
        if total - lowest > ALARM:
            return PageHinkley(), True
        return PageHinkley(seen, origin, first, second, total, lowest), False


def add_up(start: float, values: np.ndarray) -> np.ndarray:
    """start + the partial sums of the values, [n], rounded as in single calls."""
    sums = values.copy()
    sums[0] += start
    return np.add.accumulate(sums, out=sums)


def ask_detector(detector: Any, xs: np.ndarray) -> bool:
    """Updates a detector of river's kind with all numbers; True if one of them raises an alarm."""
    alarm = False
    for x in xs.tolist():
        detector.update(x)
        alarm = alarm or bool(detector.drift_detected)
    return alarm
