"""A claim: its evidence, its measure, its rule, and the controls that should fail it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from odfl_cli.claims.verdict import Estimate, Rule, Verdict, with_controls


@dataclass(frozen=True, kw_only=True)
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
        """The claim and its controls, measured on the evidence."""
        controls = {
            name: self.measure(evidence, subject) for name, subject in self.controls.items()
        }
        return Row(self, self.measure(evidence, self.subject), controls)


class Row(NamedTuple):
    """One judged claim."""

    claim: Claim
    estimate: Estimate
    controls: dict[str, Estimate]

    @property
    def verdict(self) -> Verdict:
        """What the measurements say."""
        return with_controls(self.claim.rule, self.estimate, self.controls.values())


SAMPLE = "sample"
"""The evidence of a claim about single rounds: how many of them are drawn."""
