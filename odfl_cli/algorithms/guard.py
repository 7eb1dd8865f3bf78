"""A guard: a base algorithm, and rivals that take over if they pay less.

(A,B)-Prod of Sani, Neu & Lazaric, *Exploiting Easy Data in Online Optimization*, NeurIPS 2014, with
several rivals as in Even-Dar, Kearns, Mansour & Wortman, *Regret to the Best vs. Regret to the
Average*, Machine Learning 72, 2008. All costs are seen, so that the cost of every decision is known.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field, SkipValidation

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.algorithms.hedge import exponential_weights
from odfl_cli.algorithms.mixture import Mixture, build_learner
from odfl_cli.core.arrays import Array, array_namespace, like, positive
from odfl_cli.core.errors import RowError, UserError
from odfl_cli.core.settings import Real, settings


class GuardState(NamedTuple):
    """The weights of the base and its rivals, and their states."""

    t: int
    theta: Array  # of the base, [S, m]
    gains: Array  # B ln(v_k / prior), in units of costs, [S, 1 + N]
    reach: Array  # B: `range`, or the largest |ℓ_0 − ℓ_k| so far, [S]
    states: tuple[Any, ...]  # of the base, then of the rivals


@settings
class Guard(Mixture):
    """Plays Σ_k p_k w*(θ_k) with p ∝ v; v_0 of the base is constant, v_k ← v_k (1 + η (ℓ_0 − ℓ_k)/B).

    Rivals begin with a share η of the weight. B is `range`, which bounds |ℓ_0 − ℓ_k|. For any costs:

        Σ ℓ ≤ Σ ℓ_0 + B ln(1/(1 − η))/η                       (at most 1.39 B in all)
        Σ ℓ ≤ Σ ℓ_k + η Σ (ℓ_0 − ℓ_k)²/B + B ln(N/η)/η        for each of N rivals.

    η = ½ √(ln T / T) makes the second O(√(T ln T)); a large η abandons the base sooner.

    Without `range`, B is the largest difference so far. If it grows from B to B', the differences of
    that round are scaled by B/B', and v_k/prior is raised to the power B/B'. As Σ q u^a ≤ (Σ q u)^a
    for a ≤ 1, this does not increase B ln Σ v, so that the first bound holds for the scaled costs; the
    rest is at most Σ (B' − B) = B in total. The bounds grow by B, or 2B for rivals: at most 2.39 B
    above the base. One outlier makes B large and the guard slow.
    """

    base: SkipValidation[Callable[..., Algorithm]]
    rivals: SkipValidation[dict[str, Callable[..., Algorithm] | None]]  # None: not this one
    eta: Annotated[Real, Field(gt=0, le=0.5)] = 0.5
    range: Annotated[Real, Field(gt=0)] | None = None
    name = "guard"

    def __post_init__(self) -> None:
        if not isinstance(self.rivals, dict):
            raise UserError(
                f"algo.rivals={self.rivals}: algorithms by name, see conf/algo/guard.yaml"
            )
        if len(self.learners) == 1:
            raise UserError("algo.rivals: a guard needs one rival at least")

    @cached_property
    def learners(self) -> tuple[Algorithm, ...]:
        rivals = {f"algo.rivals.{name}": rival for name, rival in self.rivals.items() if rival}
        parts = {"algo.base": self.base, **rivals}
        return tuple(build_learner(part, key, self.problem) for key, part in parts.items())

    def init(self, seeds: int, truth: np.ndarray | None) -> GuardState:
        """Weight 1 − η for the base, η divided among the rivals."""
        states = tuple(learner.init(seeds, None) for learner in self.learners)
        rivals = len(states) - 1
        reach = np.full(seeds, self.range or 0.0)
        return GuardState(0, states[0].theta, np.zeros((seeds, 1 + rivals)), reach, states)

    def shares(self, state: GuardState) -> Array:
        """Proportional to the weights v, [S, 1 + N]."""
        rivals = len(self.learners) - 1
        prior = like(state.gains, np.log([1.0 - self.eta, *[self.eta / rivals] * rivals]))
        return exponential_weights(-prior - state.gains / positive(state.reach)[..., None], 1.0)

    def leader(self, state: GuardState) -> Array:
        leader = array_namespace(state.gains).zeros_like(state.gains)
        leader[..., 0] = 1.0
        return leader

    def weigh(self, state: GuardState, paid: Array) -> GuardState:
        """Updates v_k by the costs of the rivals, and the range."""
        xp = array_namespace(paid)
        lead = paid[..., :1] - paid
        reach = xp.maximum(state.reach, xp.max(xp.abs(lead), axis=-1))
        if self.range is not None and bool(xp.any(reach > self.range)):
            row = int(xp.argmax(reach))
            far = f"the base's cost and a rival's differ by {float(reach[row]):.6g}"
            hint = "give a range that is larger, or none (algo.range=null)"
            raise RowError(row, reach.shape[0], f"algo.range={self.range:g}: {far}; {hint}")
        counted = lead / positive(reach)[..., None]  # lead/B, or (B/B') lead/B where B grows
        gains = state.gains + state.reach[..., None] * xp.log1p(self.eta * counted)
        return state._replace(gains=gains, reach=reach)
