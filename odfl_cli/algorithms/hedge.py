"""Hedge over a discretised Θ, an alternative without gradients named in the paper's conclusion.

Freund & Schapire, *A Decision-Theoretic Generalization of On-Line Learning and an Application to
Boosting*, Journal of Computer and System Sciences 55(1), 1997.
"""

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.core.arrays import Array, array_namespace, dot, like
from odfl_cli.core.settings import Positive, PositiveInt, settings
from odfl_cli.core.streams import Draw, draw


class HedgeState(NamedTuple):
    """θ_{t+1} and the total cost of every expert."""

    t: int
    theta: Array  # [S, m]
    losses: Array  # Σ_{s≤t} ⟨c_s, w*(θ_k)⟩, [S, N]


@settings
class Hedge(Algorithm):
    """Plays one of `experts` fixed parameters, sampled by exponential weights.

    The experts are random directions of length R, the same for every seed and run. The full cost
    vector is revealed, so every expert's cost is known. η = c_η √(8 ln N / T) is the rate for costs
    in [0, 1]. Round 1 plays θ_1 = 0; the expert of round t + 1 is sampled at the end of round t.
    """

    experts: PositiveInt = 200
    c_eta: Positive = 1.0
    name = "hedge"
    takes_offers = True
    needs_units = needs_horizon = True

    def draws(self) -> dict[str, Draw]:
        return {"hedge/choice": Draw("uniform")}

    def init(self, seeds: int, truth: np.ndarray | None) -> HedgeState:
        zero = np.zeros((seeds, self.problem.parameters))
        return HedgeState(0, zero, np.zeros((seeds, self.experts)))

    def update(
        self, state: HedgeState, X: Array, costs: Array, draws: dict[str, Array]
    ) -> HedgeState:
        """L_k ← L_k + ⟨c_t, w*(θ_k)⟩, then θ_{t+1} = θ_k with probability ∝ exp(−η L_k)."""
        problem, design = self.problem, like(X, self.design)
        predictions = problem.predictor.predict(design[None], X[:, None])
        decisions = problem.polytope.minimise(predictions)
        losses = state.losses + dot(decisions, costs[:, None, :])
        chosen = pick(exponential_weights(losses, self.eta), draws["hedge/choice"])
        return HedgeState(state.t + 1, design[chosen], losses)

    @property
    def eta(self) -> float:
        """The rate of the weights."""
        return self.c_eta * math.sqrt(8.0 * math.log(self.experts) / self.problem.rounds)

    @cached_property
    def design(self) -> np.ndarray:
        """The experts' parameters, [N, m]; a smaller design is the first rows of a larger one."""
        spec = Draw("normal", (self.problem.parameters,))
        direction = draw((0,), "hedge/experts", spec, 0, self.experts)[0]
        length = np.sqrt(dot(direction, direction))[:, None]
        theta_set = self.problem.theta_set
        return theta_set.project(theta_set.radius * direction / length)


def exponential_weights(losses: Array, eta: float, prior: Array | float = 1.0) -> Array:
    """p_k ∝ prior_k exp(−η L_k) over the last axis, shifted by the least loss to avoid underflow."""
    xp = array_namespace(losses)
    weights = prior * xp.exp(eta * (xp.min(losses, axis=-1, keepdims=True) - losses))
    return weights / weights.sum(-1)[..., None]


def pick(weights: Array, uniform: Array) -> Array:
    """The k with p_0 + … + p_{k−1} ≤ u < p_0 + … + p_k for weights [S, N] and u [S], [S]."""
    xp = array_namespace(weights)
    summed = xp.cumulative_sum(weights, axis=-1)
    below = summed[:, :-1] <= (uniform * summed[:, -1])[:, None]
    return below.sum(-1)
