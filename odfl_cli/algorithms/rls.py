"""Online ridge regression, also known as recursive least squares.

Hoerl & Kennard, *Ridge Regression*, Technometrics 12(1), 1970; with a forgetting factor as in
Ljung, *System Identification*, 2nd edition, 1999, Section 11.2.
"""

from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.core.arrays import Array, array_namespace
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import Positive, Real, settings
from odfl_cli.core.streams import Draw, draw
from odfl_cli.problem.predictors import Predictor
from odfl_cli.problem.problem import Problem


class RLSState(NamedTuple):
    """θ_{t+1} and the discounted sums behind it, with J_s = ∇_θ g(·, X_s)."""

    t: int
    theta: Array  # [S, m]
    gram: Array  # Σ_s φ^{t−s} J_sᵀ J_s, [S, m, m]
    moment: Array  # Σ_s φ^{t−s} J_sᵀ c_s, [S, m]


@settings
class RLS(Algorithm):
    """Plays the ridge estimate: argmin_θ Σ_{s≤t} φ^{t−s} ‖c_s − J_s θ‖² + λ ‖θ‖², then Π_Θ.

    φ = `forgetting` (1: all rounds count alike) and λ = `ridge`, which does not fade. The estimate
    itself is unconstrained; projecting it on the ball scales a linear prediction, so decisions
    stay as they are.
    """

    ridge: Positive = 1.0
    forgetting: Annotated[Real, Field(gt=0, le=1)] = 1.0
    name = "rls"

    def __post_init__(self) -> None:
        if not is_linear(self.problem):
            raise UserError(
                f"algo=rls needs a predictor that is linear in θ, "
                f"and {type(self.problem.predictor).__name__} is not; choose predictor=linear"
            )

    def init(self, seeds: int, truth: np.ndarray | None) -> RLSState:
        """θ_1 = 0 and no data."""
        m = self.problem.parameters
        return RLSState(0, np.zeros((seeds, m)), np.zeros((seeds, m, m)), np.zeros((seeds, m)))

    def update(self, state: RLSState, X: Array, costs: Array, draws: dict[str, Array]) -> RLSState:
        """θ_{t+1} = Π_Θ((λI + G_t)⁻¹ b_t) with G_t = φ G_{t−1} + JᵀJ and b_t = φ b_{t−1} + Jᵀc_t."""
        xp, predictor = array_namespace(X), self.problem.predictor
        J = jacobian(predictor, state.theta, X)
        gram = self.forgetting * state.gram + (J[..., None] * J[..., None, :]).sum(-3)
        moment = self.forgetting * state.moment + predictor.vjp(state.theta, X, costs)
        identity = xp.eye(gram.shape[-1], dtype=gram.dtype, device=X.device)
        estimate = solve(gram + self.ridge * identity, moment)
        return RLSState(state.t + 1, self.problem.theta_set.project(estimate), gram, moment)


def jacobian(predictor: Predictor, theta: Array, X: Array) -> Array:
    """∇_θ g(θ, X), [..., d, m]: the rows are the products with unit vectors."""
    unit = array_namespace(X).eye(X.shape[-2], dtype=X.dtype, device=X.device)
    return predictor.vjp(theta[..., None, :], X[..., None, :, :], unit)


def solve(A: Array, b: Array) -> Array:
    """A⁻¹ b for positive definite A [..., m, m] by Gauss–Jordan elimination.

    Products and sums alone, because a batched LAPACK gives a seed other last digits among others.
    """
    xp = array_namespace(A)
    rows = xp.concat([A, b[..., None]], axis=-1)
    identity = xp.eye(A.shape[-1], dtype=A.dtype, device=A.device)
    for k in range(A.shape[-1]):
        pivot = rows[..., k, :] / rows[..., k, k][..., None]
        rows = rows - (rows[..., :, k] - identity[k])[..., None] * pivot[..., None, :]
    return rows[..., -1]


def is_linear(problem: Problem) -> bool:
    """Whether g(θ − 2θ', X) = g(θ, X) − 2 g(θ', X), tried at random points."""
    probe = (
        Draw("normal", (2, problem.parameters)),
        Draw("normal", (problem.items, problem.features)),
    )
    one, other = draw((0,), "rls/probe_theta", probe[0])[0].swapaxes(0, 1)
    X = draw((0,), "rls/probe_x", probe[1])[0]
    predict = problem.predictor.predict
    whole, parts = predict(one - 2.0 * other, X), predict(one, X) - 2.0 * predict(other, X)
    return bool(np.allclose(whole, parts, rtol=1e-9, atol=1e-9))
