"""The score-function gradient of a softmax policy.

Williams, *Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement
Learning*, Machine Learning 8, 1992.
"""

from typing import NamedTuple

import numpy as np

from odfl_cli.algorithms.base import PartialLearner
from odfl_cli.algorithms.hedge import pick
from odfl_cli.algorithms.units import Stepper
from odfl_cli.core.arrays import Array, array_namespace
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import Positive, settings
from odfl_cli.core.streams import Draw
from odfl_cli.feedback.base import Seen


class PolicyGradientState(NamedTuple):
    """θ_{t+1} and the mean of the costs sampled so far."""

    t: int
    theta: Array  # [S, m]
    baseline: Array  # [S]
    squares: Array  # Σ ∇² by coordinate if steps are adaptive, [S, m], else [S, 0]


@settings
class PolicyGradient(PartialLearner, Stepper):
    """Plays an item i ~ π = softmax(−ĉ/α) and learns from its cost alone.

    E[(c_i − b) ∇ log π_i] = ∇⟨c, π⟩ = ∇f̃_α: unbiased for the smoothed cost of the entropy, for any
    baseline b computed from earlier rounds. Delayed costs are used at the θ of their arrival.
    Adaptive steps are AdaGrad's instead of η.
    """

    eta: Positive = 0.001
    alpha: Positive = 0.1
    name = "policy_gradient"
    explores = True
    sees = ("full", "semi_bandit", "bandit")

    def __post_init__(self) -> None:
        if not getattr(self.problem.regularizer, "is_softmax", False):
            raise UserError(
                "algo=policy_gradient samples one item; "
                "choose polytope=simplex with regularizer=entropy"
            )

    def draws(self) -> dict[str, Draw]:
        return {"policy_gradient/item": Draw("uniform")}

    def init(self, seeds: int, truth: np.ndarray | None) -> PolicyGradientState:
        theta = np.zeros((seeds, self.problem.parameters))
        return PolicyGradientState(0, theta, np.zeros(seeds), self.no_squares(seeds))

    def decide(
        self, state: PolicyGradientState, X: Array, draws: dict[str, Array] | None = None
    ) -> tuple[Array, Array]:
        """ĉ and the item drawn; without draws, the best predicted item."""
        xp, prediction = array_namespace(X), self.problem.predictor.predict(state.theta, X)
        if draws is None:
            return prediction, self.problem.decide(prediction)
        policy = self.problem.regularizer.smooth(prediction, self.alpha)
        drawn = pick(policy, draws["policy_gradient/item"])[:, None]
        items = xp.arange(self.problem.items, device=X.device)
        return prediction, xp.astype(items == drawn, X.dtype)

    def learn(
        self, state: PolicyGradientState, seen: Seen, draws: dict[str, Array]
    ) -> PolicyGradientState:
        """θ_{t+1} = Π_Θ(θ_t − η (c_i − b_t) ∇gᵀ (π − e_i)/α)."""
        problem, t, X, paid = self.problem, state.t + 1, seen.X, seen.paid
        policy = problem.regularizer.smooth(problem.predictor.predict(state.theta, X), self.alpha)
        # ∇_ĉ log π_i = (π − e_i)/α
        score = (policy - seen.w) / self.alpha
        gradient = problem.predictor.vjp(state.theta, X, (paid - state.baseline)[:, None] * score)
        theta, squares = self.descend(state.theta, gradient, self.eta, state.squares)
        return PolicyGradientState(t, theta, state.baseline + (paid - state.baseline) / t, squares)
