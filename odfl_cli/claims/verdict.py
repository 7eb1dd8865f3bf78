"""From a measured value and its uncertainty to a verdict, and what a control does to it."""

import math
from collections.abc import Iterable
from typing import Literal, NamedTuple

Verdict = Literal[
    "holds",
    "without power",
    "does not hold",
    "not distinguishable at this sample size",
    "no measurement",
]


class Estimate(NamedTuple):
    """A measured value, half its 95% interval (NaN: none), and the seeds or samples behind it."""

    value: float
    ci95: float
    size: int


class Rule(NamedTuple):
    """What a claim says of its value: above a limit, at most a limit, or strictly below one."""

    side: Literal["above", "at most", "below"]
    limit: float

    def judge(self, estimate: Estimate) -> Verdict:
        """An interval that reaches across the limit settles nothing."""
        if math.isnan(estimate.value):
            return "no measurement"
        spread = 0.0 if math.isnan(estimate.ci95) else estimate.ci95
        distance = estimate.value - self.limit
        if self.side != "above":
            distance = -distance
        if distance - spread > 0 or (self.side == "at most" and spread == 0 and distance == 0):
            return "holds"
        if distance + spread < 0 or (spread == 0 and distance == 0):
            return "does not hold"
        return "not distinguishable at this sample size"

    def __str__(self) -> str:
        return f"{ {'above': '>', 'at most': '≤', 'below': '<'}[self.side] } {self.limit:g}"


def with_controls(rule: Rule, estimate: Estimate, controls: Iterable[Estimate]) -> Verdict:
    """A claim that holds for a control too says nothing: it is without power."""
    verdict = rule.judge(estimate)
    passed = any(rule.judge(control) == "holds" for control in controls)
    return "without power" if verdict == "holds" and passed else verdict
