"""Online Newton step: a gradient step in the metric of the gradients so far.

Hazan, Agarwal & Kale, *Logarithmic Regret Algorithms for Online Convex Optimization*, Machine Learning
69, 2007. With `loss=best` only the best decision matters, as in Sakaue, Tsuchiya, Bao &
Oki, *Online Inverse Linear Optimization*, NeurIPS 2025, arXiv 2501.14349.
"""

from typing import Literal, NamedTuple

import numpy as np

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.algorithms.gradient import spo_plus_subgradient
from odfl_cli.core.arrays import Array, array_namespace, dot, positive
from odfl_cli.core.settings import Positive, settings
from odfl_cli.problem.offers import mark_missing

NEWTON_STEPS = 30
"""Iterations for the projection's multiplier; it converges from below, quadratically at the end."""


class ONSState(NamedTuple):
    """θ_{t+1} and the metric A_t = εI + Σ_{s≤t} ∇_s ∇_sᵀ."""

    t: int
    theta: Array  # [S, m]
    metric: Array  # [S, m, m]


@settings
class ONS(Algorithm):
    """θ_{t+1} = Π_Θ^A(θ_t − η A_t⁻¹ ∇_t) with A_t = εI + Σ_{s≤t} ∇_s ∇_sᵀ, projected in the metric A_t.

    ∇_t = ∇gᵀ v_t with v_t of the `loss`: 2 (ĉ_t − c_t) for square, which is exp-concave with regret
    O(m ln T); 2 (w*(c_t) − w*(2ĉ_t − c_t)) for spo, SPO+; w*(c_t) − w*(ĉ_t) for best. The last two losses
    are piecewise linear: Sakaue et al. add the square η²⟨θ − θ_t, ∇_t⟩² to η⟨θ − θ_t, ∇_t⟩. Its gradient at
    θ_t is η∇_t, so that their update is this one with other constants; its regret is O(m ln T) if one θ
    explains all best decisions.
    """

    loss: Literal["spo", "square", "best"] = "spo"
    eta: Positive = 1.0
    epsilon: Positive = 1.0
    name = "ons"
    takes_offers = True
    needs_units = True

    def init(self, seeds: int, truth: np.ndarray | None) -> ONSState:
        m = self.problem.parameters
        metric = np.broadcast_to(self.epsilon * np.eye(m), (seeds, m, m)).copy()
        return ONSState(0, np.zeros((seeds, m)), metric)

    def direction(self, prediction: Array, costs: Array) -> Array:
        """v_t for ĉ_t and c_t, all [S, d]."""
        best = self.problem.polytope.minimise
        if self.loss == "square":
            return 2.0 * (prediction - costs)
        if self.loss == "spo":
            return spo_plus_subgradient(self.problem.polytope, prediction, costs)
        return best(mark_missing(costs, prediction)) - best(prediction)

    def update(self, state: ONSState, X: Array, costs: Array, draws: dict[str, Array]) -> ONSState:
        """A_t ← A_{t−1} + ∇_t ∇_tᵀ, then the step."""
        xp, predictor = array_namespace(X), self.problem.predictor
        v = self.direction(predictor.predict(state.theta, X), costs)
        gradient = predictor.vjp(state.theta, X, v)
        metric = state.metric + gradient[..., None] * gradient[..., None, :]
        theta = state.theta - self.eta * xp.linalg.solve(metric, gradient[..., None])[..., 0]
        radius = self.problem.theta_set.radius
        outside = dot(theta, theta) > radius**2
        if bool(xp.any(outside)):
            values, vectors = xp.linalg.eigh(metric)
            inside = project(times(xp.swapaxes(vectors, -1, -2), theta), values, radius)
            theta = xp.where(outside[..., None], times(vectors, inside), theta)
        return ONSState(state.t + 1, theta, metric)


def project(y: Array, values: Array, radius: float) -> Array:
    """argmin_{‖x‖≤R} (x − y)ᵀ diag(values) (x − y), over the last axis.

    x = y / (1 + λ/values), where Newton's method on 1/‖x‖ = 1/R finds λ ≥ 0.
    """
    xp = array_namespace(y)
    multiplier, x = xp.zeros_like(y[..., :1]), y
    for _ in range(NEWTON_STEPS):
        square = dot(x, x)[..., None]
        slope = dot(x / (values + multiplier), x)[..., None]
        excess = xp.sqrt(square) / radius - 1.0
        multiplier = xp.clip(multiplier + excess * square / positive(slope), min=0.0)
        x = y / (1.0 + multiplier / values)
    return x


def times(A: Array, x: Array) -> Array:
    """A x, [..., m]."""
    return dot(A, x[..., None, :])
