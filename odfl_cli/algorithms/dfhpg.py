"""DFHPG: a score-function gradient of the cost paid, and a decision-focused one of estimated costs.

Benslimane, Ye, Van Hentenryck & Grigas, *Decision-Focused On-Policy Learning for Contextual Linear
Optimization with Partial Feedback*, arXiv 2606.01081, 2026, with the defaults of its code
(github.com/Joeyetinghan/on-policy-bandit-dfl, src/algos/dfhpg.py): a Gaussian policy, SPO+, gradients
of length 1 and a weight that depends on the error of the estimate. Two differences: costs are
estimated by any learner, by default ridge regression, not by a network trained with Adam; θ stays in Θ.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import Field, SkipValidation

from odfl_cli.algorithms.base import Algorithm, PartialLearner
from odfl_cli.algorithms.gradient import spo_plus_subgradient
from odfl_cli.algorithms.mixture import build_learner
from odfl_cli.core.arrays import Array, array_namespace, dot, positive, unit
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import NonNegative, Positive, Real, settings
from odfl_cli.core.streams import Draw
from odfl_cli.feedback.base import Seen

Share = Annotated[Real, Field(ge=0, le=1)]
MEMORY, SMOOTHING, BASELINE = 0.98, 0.05, 0.95
"""Factors of the moving averages of squared errors, of α and of costs paid, as in the authors' code."""


class DFHPGState(NamedTuple):
    """θ_{t+1}, the state of the estimate of costs, and moving averages."""

    t: int
    theta: Array  # [S, m]
    nuisance: Any
    baseline: Array  # of costs paid, [S]
    alpha: Array  # the weight of the score-function gradient, [S]
    error: Array  # of (v_t − ⟨f_t, w_t⟩)², [S]
    size: Array  # of v_t², [S]
    reference: Array  # the largest error/size in the first rounds, [S]


@settings
class DFHPG(PartialLearner):
    """Plays w*(c̃_t) with c̃_t ~ N(ĉ_t, σ² I), where ĉ_t = g(θ_t, X_t), and descends

        α_t (v_t − b_t) ∇gᵀ (c̃_t − ĉ_t)/σ²  +  (1 − α_t) ∇gᵀ ∂ℓ(ĉ_t, f_t),

    both scaled to length 1, by steps η_t = η (h + 1)/(h + t), h = `offset`. v_t is the cost paid, f_t
    the costs that are seen, and for the others the estimates of `nuisance`, and ℓ is SPO+.
    b_t is min_w ⟨f, w⟩ for the estimate before the round, or a moving average of costs paid.

    α_t is `alpha_max` for the first `warmup` rounds and then moves towards `alpha_min` as the error
    of f becomes small relative to that of these rounds. It is constant if all costs are seen.
    """

    nuisance: SkipValidation[Callable[..., Algorithm]]
    eta: Positive = 0.1
    offset: NonNegative = 100.0
    sigma: Positive = 0.001
    alpha_max: Share = 0.5
    alpha_min: Share = 0.05
    warmup: NonNegative = 100
    baseline: Literal["nuisance", "average"] = "nuisance"
    name = "dfhpg"
    needs_units = explores = True
    noted = ("alpha",)

    def __post_init__(self) -> None:
        if self.learner.explores:
            raise UserError(f"algo.nuisance: {self.learner.name} explores; choose one as rls")
        if self.alpha_min > self.alpha_max:
            raise UserError(f"algo.alpha_min={self.alpha_min} > algo.alpha_max={self.alpha_max}")

    @cached_property
    def learner(self) -> Algorithm:
        """The algorithm that estimates costs."""
        return build_learner(self.nuisance, "algo.nuisance", self.problem)

    @property
    def uses_horizon(self) -> bool:
        return self.learner.uses_horizon

    def takes_feedback(self, kind: str) -> bool:
        return self.learner.takes_feedback(kind)

    def draws(self) -> dict[str, Draw]:
        return {"dfhpg/noise": Draw("normal", (self.problem.items,)), **self.learner.draws()}

    def init(self, seeds: int, truth: np.ndarray | None) -> DFHPGState:
        zero, none = np.zeros((seeds, self.problem.parameters)), np.zeros(seeds)
        nuisance = self.learner.init(seeds, truth)
        return DFHPGState(0, zero, nuisance, none, none + self.alpha_max, none, none, none)

    def decide(
        self, state: DFHPGState, X: Array, draws: dict[str, Array] | None = None
    ) -> tuple[Array, Array]:
        """ĉ_t and w*(c̃_t) with c̃_t = ĉ_t + σ Z_t."""
        prediction = self.problem.predictor.predict(state.theta, X)
        return prediction, self.problem.decide(prediction + self.sigma * self.memo(state, X, draws))

    def memo(self, state: DFHPGState, X: Array, draws: dict[str, Array] | None) -> Array:
        """Z_t, [S, d]; 0 without exploration."""
        if draws is None:
            return 0.0 * self.problem.predictor.predict(state.theta, X)
        return draws["dfhpg/noise"]

    def learn(self, state: DFHPGState, seen: Seen, draws: dict[str, Array]) -> DFHPGState:
        xp, t, X, v = array_namespace(seen.X), state.t + 1, seen.X, seen.paid
        predictor, best = self.problem.predictor, self.problem.polytope.minimise
        # the estimate before the round, for w_t and for the baseline
        before = self.learner.decide(state.nuisance, X)[0]
        before = seen.costs if seen.kind == "full" else before
        b = state.baseline if self.baseline == "average" else dot(before, best(before))
        # f_t: the estimate after the round, with the costs seen
        nuisance = self.learner.learn(state.nuisance, seen, draws)
        after = self.learner.decide(nuisance, X)[0]
        f = xp.where(xp.isnan(seen.costs), after, seen.costs)
        # both gradients at θ_t
        prediction = predictor.predict(state.theta, X)
        paid = predictor.vjp(state.theta, X, (v - b)[:, None] * seen.memo / self.sigma)
        plug_in = spo_plus_subgradient(self.problem.polytope, prediction, f)
        estimated = predictor.vjp(state.theta, X, plug_in)
        alpha = state.alpha[:, None]
        gradient = alpha * unit(paid) + (1.0 - alpha) * unit(estimated)
        eta = self.eta * (self.offset + 1.0) / (self.offset + t)
        theta = self.problem.theta_set.project(state.theta - eta * gradient)
        state = state if seen.kind == "full" else self._weigh(state, v, dot(before, seen.w))
        b = BASELINE * state.baseline + (1.0 - BASELINE) * v
        return state._replace(t=t, theta=theta, nuisance=nuisance, baseline=b)

    def _weigh(self, state: DFHPGState, v: Array, estimated: Array) -> DFHPGState:
        """α_{t+1} from the error of the estimate relative to that of the first rounds."""
        xp, t = array_namespace(v), state.t + 1
        keep = MEMORY if state.t else 0.0
        error = keep * state.error + (1.0 - keep) * (v - estimated) ** 2
        size = keep * state.size + (1.0 - keep) * v**2
        ratio, reference = error / positive(size), state.reference
        if t <= self.warmup or t == 1:
            reference = xp.maximum(reference, ratio)
        doubt = xp.clip(ratio / positive(reference), max=1.0)
        doubt = xp.ones_like(doubt) if t <= self.warmup else doubt
        target = self.alpha_min + (self.alpha_max - self.alpha_min) * doubt
        alpha = state.alpha + SMOOTHING * (target - state.alpha)
        return state._replace(alpha=alpha, error=error, size=size, reference=reference)
