"""From a measured value and its uncertainty to a verdict."""

import math
from typing import Literal, NamedTuple

Verdict = Literal[
    "holds", "does not hold", "not distinguishable at this sample size", "no measurement"
]


class Estimate(NamedTuple):
    """A measured value, half its 95% interval (NaN: none), and the seeds or samples behind it."""

    value: float
    ci95: float
    size: int


class Rule(NamedTuple):
    """What a claim says of its value: above or below a limit."""

    side: Literal["above", "below"]
    limit: float

    def judge(self, estimate: Estimate) -> Verdict:
        """An interval that reaches across the limit settles nothing."""
        if math.isnan(estimate.value):
            return "no measurement"
        spread = 0.0 if math.isnan(estimate.ci95) else estimate.ci95
        distance = estimate.value - self.limit
        if self.side == "below":
            distance = -distance
        if distance - spread > 0 or (spread == 0 and distance == 0):
            return "holds"
        return (
            "does not hold" if distance + spread < 0 else "not distinguishable at this sample size"
        )

    def __str__(self) -> str:
        return f"{'>' if self.side == 'above' else '≤'} {self.limit:g}"


def above(limit: float = 0.0) -> Rule:
    """The value should exceed the limit."""
    return Rule("above", limit)


def at_most(limit: float) -> Rule:
    """The value should not exceed the limit."""
    return Rule("below", limit)
