"""A claim, its measurement with controls, and its verdict."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from scipy import stats

SAMPLE = "sample"
"""The evidence of a claim about single rounds: the number of rounds that are drawn."""

UNCLEAR = "not distinguishable at this sample size"
ROUNDING = 1e-9
"""Distances from a limit up to this count as 0."""


class Estimate(NamedTuple):
    """A measured value, half its 95% interval (NaN: none), and the seeds or samples behind it."""

    value: float
    ci95: float
    size: int


class Rule(NamedTuple):
    """The claim about a value: above a limit, at most a limit, or strictly below one.

    `measured`: the paper claims nothing about the value, although it may assume something or bound it.
    """

    side: Literal["above", "at most", "below", "measured"]
    limit: float

    def judge(self, estimate: Estimate) -> str:
        """Compares an estimate with the limit; an interval across the limit is undecided."""
        if math.isnan(estimate.value):
            return "no measurement"
        if self.side == "measured":
            return "measured"
        spread = 0.0 if math.isnan(estimate.ci95) else estimate.ci95
        distance = (estimate.value - self.limit) * (1 if self.side == "above" else -1)
        distance = 0.0 if abs(distance) <= ROUNDING else distance
        if distance - spread > 0 or (self.side == "at most" and spread == 0 and distance == 0):
            return "holds"
        if distance + spread < 0 or (spread == 0 and distance == 0):
            return "does not hold"
        return UNCLEAR

    def __str__(self) -> str:
        signs = {"above": ">", "at most": "≤", "below": "<"}
        return f"{signs[self.side]} {self.limit:g}" if self.side in signs else "–"


@dataclass(frozen=True)
class Claim:
    """A statement of the paper that a measurement can contradict.

    `measure(evidence, subject)` returns the value that `rule` judges. A claim should not hold for its
    controls, such as players that learn nothing or a smoothing ten times off; if it holds for one,
    it is without power.
    """

    name: str
    text: str
    where: str  # in the paper
    evidence: str  # the name of a sweep; SAMPLE: sampled rounds
    measure: Callable[[Any, Any], Estimate]
    rule: Rule
    subject: Any
    controls: Mapping[str, Any] = field(default_factory=dict)  # by the name that the table shows

    def judge(self, evidence: Any) -> "Row":
        """Measures the claim and its controls on the evidence."""
        measure: Any = self.measure
        controls = {name: measure(evidence, subject) for name, subject in self.controls.items()}
        of_means = getattr(measure, "keywords", {}).get("column") == "avg_mean_cost"
        realised = measure(evidence, self.subject, column="avg_cost") if of_means else None
        return Row(self, measure(evidence, self.subject), controls, realised)


class Row(NamedTuple):
    """A claim with its measurements."""

    claim: Claim
    estimate: Estimate
    controls: dict[str, Estimate]
    realised: Estimate | None = None  # with realised costs, of a claim on mean costs
    discovered: bool = True  # among all rows, with the false discovery rate controlled

    @property
    def p_value(self) -> float:
        """The p-value of the hypothesis that the value is the limit; NaN without an interval."""
        value, ci95, size = self.estimate
        if math.isnan(ci95) or self.claim.rule.side == "measured":
            return math.nan
        return two_sided_p(value - self.claim.rule.limit, ci95, size)

    @property
    def verdict(self) -> str:
        """The verdict; a claim that holds for a control too is without power."""
        rule = self.claim.rule
        verdict = rule.judge(self.estimate)
        if verdict in ("holds", "does not hold") and not self.discovered:
            return UNCLEAR
        passed = any(rule.judge(control) == "holds" for control in self.controls.values())
        return "without power" if verdict == "holds" and passed else verdict


def control_discoveries(rows: list[Row], rate: float = 0.05) -> list[Row]:
    """The rows, such that at most `rate` of the intervals that exclude their limit do so by chance."""
    tested = [row for row in rows if not math.isnan(row.p_value)]
    found = iter(discoveries((row.p_value for row in tested), rate))
    return [
        row if math.isnan(row.p_value) else row._replace(discovered=next(found)) for row in rows
    ]


def two_sided_p(distance: float, ci95: float, count: int) -> float:
    """P(|T| > t) for a mean of `count` values that is `distance` from its hypothesis, from its interval."""
    spread = ci95 / stats.t.ppf(0.975, count - 1)
    if spread == 0.0:
        return float(distance == 0.0)
    return float(2 * stats.t.sf(abs(distance) / spread, count - 1))


def discoveries(p_values: Iterable[float], rate: float = 0.05) -> list[bool]:
    """The rejected hypotheses if at most `rate` of the rejections may be false on average.

    Benjamini & Hochberg, *Controlling the False Discovery Rate*, JRSS B 57, 1995.
    """
    p = list(p_values)
    return [bool(q <= rate) for q in stats.false_discovery_control(p)] if p else []
