"""Drift: whether the cost of the decisions, less that of a naive policy, has risen for good.

Page, *Continuous Inspection Schemes*, Biometrika 41, 1954; Hinkley, *Inference about the Change-point
from Cumulative Sum Tests*, Biometrika 58, 1971.
"""

import math
from typing import Any, NamedTuple

FEWEST = 30  # rounds before the mean and the deviation are trusted
SLACK, ALARM = 0.1, 50.0  # deviations: of a rise that is ignored, and of the sum that is not
ROUNDING = 1e-14  # a variance below this share of the mean square is none


class PageHinkley(NamedTuple):
    """Sums since the last alarm, which is raised where `total` is ALARM above its minimum.

    total = Σ_s ((x_s − mean)/deviation − SLACK), with the mean and deviation of x_1, …, x_s, so that units
    do not matter.
    """

    seen: int = 0
    origin: float = 0.0  # the first number; sums of differences from it lose fewer digits
    first: float = 0.0  # Σ (x − origin)
    second: float = 0.0  # Σ (x − origin)²
    total: float = 0.0
    lowest: float = 0.0

    def after(self, xs: list[float]) -> tuple["PageHinkley", bool]:
        """The sums after the next numbers, and whether one of them raised an alarm."""
        seen, origin, first, second, total, lowest = self
        found = False
        for x in xs:
            origin = origin if seen else x
            seen += 1
            y = x - origin
            first += y
            second += y * y
            mean, square = first / seen, second / seen
            variance = square - mean * mean
            if seen > FEWEST and variance > ROUNDING * square:
                total += (y - mean) / math.sqrt(variance) - SLACK
                lowest = min(lowest, total)
                if total - lowest > ALARM:
                    found = True
                    seen, origin, first, second, total, lowest = PageHinkley()
        return PageHinkley(seen, origin, first, second, total, lowest), found


def ask_detector(detector: Any, xs: list[float]) -> bool:
    """Whether a detector of river's kind alarms at one of the numbers; it takes all of them."""
    alarm = False
    for x in xs:
        detector.update(x)
        alarm = alarm or bool(detector.drift_detected)
    return alarm
