"""Online ridge regression, also known as recursive least squares.

Hoerl & Kennard, *Ridge Regression*, Technometrics 12(1), 1970; with a forgetting factor as in
Ljung, *System Identification*, 2nd edition, 1999, Section 11.2.
"""

from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from odfl_cli.algorithms.base import LinearLearner
from odfl_cli.core.arrays import Array, array_namespace, dot, like, positive, weighted_sum
from odfl_cli.core.settings import Positive, PositiveInt, Real, settings
from odfl_cli.feedback.base import Seen
from odfl_cli.problem.offers import replace_nan


class RLSState(NamedTuple):
    """θ_{t+1} and its discounted sums, with D_s the design of round s; J memories."""

    t: int
    theta: Array  # [S, m]
    gram: Array  # Σ_s φ_j^{t−s} D_sᵀ D_s, [S, J, m, m]
    moment: Array  # Σ_s φ_j^{t−s} D_sᵀ c_s, [S, J, m]
    thetas: Array  # the ridge estimate of each memory, [S, J, m]
    omega: Array  # ω_j, [S, J]
    missed: Array  # Σ_s mean_i (c_s − D_s Σ_j ω_j θ_j)², [S]


@settings
class RLS(LinearLearner):
    """Plays the ridge estimate: argmin_θ Σ_{s≤t} φ^{t−s} ‖c_s − D_s θ‖² + λ ‖θ‖², then Π_Θ.

    φ = `forgetting` (1: all rounds count equally) and λ = `ridge`, which does not fade. The estimate
    is unconstrained; its projection onto the ball scales a linear prediction, which changes no
    decision.

    `memories` adds estimates that forget: τ rounds mean φ = 1 − 1/τ. The estimate is then Σ_j ω_j θ_j,
    weighted by past predictions: ω_j ∝ ω_j exp(−½ ‖c_t − D_t θ_j‖²/σ²) with σ² the mean squared error
    of the combined prediction, then fixed share 1/t, as in DF-Moments.
    """

    ridge: Positive = 1.0
    forgetting: Annotated[Real, Field(gt=0, le=1)] = 1.0
    memories: tuple[PositiveInt, ...] = ()
    name = "rls"
    takes_offers = True
    sees = ("full", "semi_bandit", "bandit")

    @property
    def fading(self) -> np.ndarray:
        """φ_j, [J]."""
        return np.array([self.forgetting, *(1.0 - 1.0 / tau for tau in self.memories)])

    def init(self, seeds: int, truth: np.ndarray | None) -> RLSState:
        m, J = self.problem.parameters, len(self.fading)
        gram, moment = np.zeros((seeds, J, m, m)), np.zeros((seeds, J, m))
        omega, missed = np.full((seeds, J), 1.0 / J), np.zeros(seeds)
        return RLSState(0, np.zeros((seeds, m)), gram, moment, moment.copy(), omega, missed)

    def update(self, state: RLSState, X: Array, costs: Array, draws: dict[str, Array]) -> RLSState:
        return self._regress(state, self.design(X), costs)

    def learn(self, state: RLSState, seen: Seen, draws: dict[str, Array]) -> RLSState:
        """Regresses on the rows of the costs seen; with bandit feedback, on one row: wᵀD and ⟨c, w⟩."""
        xp, D = array_namespace(seen.X), self.design(seen.X)
        if seen.kind == "full":
            return self._regress(state, D, seen.costs)
        if seen.kind == "bandit":
            return self._regress(state, weighted_sum(D, seen.w)[..., None, :], seen.paid[..., None])
        known = ~xp.isnan(seen.costs)
        D, zero = xp.where(known[..., None], D, xp.zeros_like(D)), xp.zeros_like(seen.costs)
        rows = xp.clip(xp.astype(known, D.dtype).sum(-1), min=1.0)
        return self._regress(state, D, xp.where(known, seen.costs, zero), rows)

    def _regress(
        self, state: RLSState, D: Array, costs: Array, rows: Array | None = None
    ) -> RLSState:
        """The estimates with D and c, and θ = Π_Θ(Σ_j ω_j θ_j)."""
        omega, missed = self._which_memory(state, D, costs, D.shape[-2] if rows is None else rows)
        gram, moment, thetas = self._estimate(state, D, costs)
        return RLSState(
            state.t + 1, self._combine(omega, thetas), gram, moment, thetas, omega, missed
        )

    def _estimate(self, state: RLSState, D: Array, costs: Array) -> tuple[Array, Array, Array]:
        """G_j ← φ_j G_j + DᵀD, b_j ← φ_j b_j + Dᵀc and θ_j = (λI + G_j)⁻¹ b_j."""
        xp, phi = array_namespace(D), like(D, self.fading)
        gram = (D[..., None] * D[..., None, :]).sum(-3)[..., None, :, :]
        gram = phi[:, None, None] * state.gram + gram
        moment = phi[:, None] * state.moment + weighted_sum(D, costs)[..., None, :]
        identity = xp.eye(gram.shape[-1], dtype=gram.dtype, device=D.device)
        thetas = xp.linalg.solve(gram + self.ridge * identity, moment[..., None])[..., 0]
        return gram, moment, thetas

    def _combine(self, omega: Array, thetas: Array) -> Array:
        return self.problem.theta_set.project((omega[..., None] * thetas).sum(-2))

    def _which_memory(
        self, state: RLSState, D: Array, costs: Array, rows: Array | int
    ) -> tuple[Array, Array]:
        """ω_j after this round, [S, J], and the sum of mean squared errors over its rows, [S]."""
        xp, t, J = array_namespace(D), state.t + 1, len(self.fading)
        predictions = dot(D[..., None, :, :], state.thetas[..., None, :])
        combined = (state.omega[..., None] * predictions).sum(-2)
        missed = state.missed + ((costs - combined) ** 2).sum(-1) / rows
        usual = positive(missed / t)
        score = -0.5 * ((costs[..., None, :] - predictions) ** 2).sum(-1) / usual[..., None]
        weight = state.omega * xp.exp(score - xp.max(score, axis=-1)[..., None])
        weight = weight / weight.sum(-1)[..., None]
        return weight + (1.0 / J - weight) / t, missed


@settings
class VAW(RLS):
    """The forecaster of Vovk, Azoury and Warmuth: G already includes the round to be predicted, with cost 0.

    ĉ_t = D_t (λI + Σ_{s≤t} φ^{t−s} D_sᵀ D_s)⁻¹ Σ_{s<t} φ^{t−s} D_sᵀ c_s = (I + D_t A_{t−1}⁻¹ D_tᵀ)⁻¹ D_t θ_t with the
    ridge estimate θ_t and its A_{t−1}: rows unlike those of earlier rounds are shrunk more, so
    that decisions differ from those of RLS.
    Vovk, *Competitive On-line Statistics*, 2001; Azoury & Warmuth, Machine Learning 43, 2001.
    """

    name = "vaw"

    def decide(self, state: RLSState, X: Array) -> tuple[Array, Array]:
        """ĉ_t and the decision for it; rows of NaN are items not offered."""
        D = replace_nan(self.design(X), 0.0)
        thetas = self._estimate(state, D, 0.0 * D[..., 0])[-1]
        return super().decide(state._replace(theta=self._combine(state.omega, thetas)), X)
