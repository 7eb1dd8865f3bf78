"""DF-OGD: decision-focused online gradient descent (Algorithm 2, Theorem 2), with and without its oracle."""

from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from odfl_cli.algorithms.base import (
    Algorithm,
    Belief,
    drawn_problem,
    failed_calls,
    smoothing_draws,
    start_draws,
    start_points,
)
from odfl_cli.algorithms.units import Stepper, adaptive_rate
from odfl_cli.core.arrays import Array, array_namespace, dot
from odfl_cli.core.settings import Positive, Real, settings
from odfl_cli.core.streams import Draw
from odfl_cli.problem.oracles.base import OracleCall
from odfl_cli.problem.surrogate import SmoothedCost


class DFOGDState(NamedTuple):
    """θ_{t+1}, the oracle's last answer ϑ_t and its path length P_t = Σ_{s<t} ‖ϑ_{s+1} − ϑ_s‖."""

    t: int
    theta: Array  # [S, m]
    vartheta: Array  # [S, m]
    path_length: Array  # [S]
    alpha: Array  # α_t of the last round, [S]
    eta: Array  # η_t of the last round, [S]
    squares: Array  # Σ ∇² by coordinate if steps are adaptive, [S, m], else [S, 0]


@settings
class DFOGD(Stepper):
    """Descends f̃_t at a random point between θ_t and the oracle's minimiser ϑ_t.

    α_t = c_α n^{−1/2} t^{−1/4} (1 + P_{t−1})^{1/4}  and  η_t = c_η n^{−1/2} t^{−3/4} (1 + P_t)^{3/4}.
    α_t uses P_{t−1}, as P_t is known only after the oracle has minimised f̃_t, which needs α_t.
    A number for `delta` fixes every δ_t: with 1 the gradient is at θ_t, and the oracle acts only through P_t.
    `belief.faces` scales n. Adaptive steps are AdaGrad's instead of η_t.
    """

    c_alpha: Positive = 1.0
    c_eta: Positive = 0.1
    delta: Annotated[Real, Field(ge=0, le=1)] | None = None
    belief: Belief = Field(default_factory=Belief)
    name = "df_ogd"
    takes_offers = True
    kernel = "df_ogd"
    noted = ("alpha", "eta", "path_length")

    def draws(self) -> dict[str, Draw]:
        """δ_t ~ U[0, 1], or the constant, and the oracle's random starting points if it has any."""
        delta = Draw("uniform") if self.delta is None else Draw("constant", value=self.delta)
        return {
            "df_ogd/delta": delta,
            **smoothing_draws("df_ogd", self.problem),
            **start_draws("df_ogd", self.problem),
        }

    def init(self, seeds: int, truth: np.ndarray | None) -> DFOGDState:
        """θ_1 = ϑ_0 = 0."""
        zero, none = np.zeros((seeds, self.problem.parameters)), np.zeros(seeds)
        return DFOGDState(0, zero, zero, none, none, none, self.no_squares(seeds))

    def oracle_call(
        self, state: DFOGDState, X: Array, costs: Array, draws: dict[str, Array]
    ) -> OracleCall | None:
        """The call to minimise f̃_t with α_t from ϑ_{t−1}."""
        loss = self._loss(state, X, costs, draws)
        points = start_points("df_ogd", self.problem, draws)
        failed = failed_calls("df_ogd", self.problem, draws)
        return OracleCall(loss, self.problem.theta_set, state.vartheta, None, points, failed)

    def update(
        self, state: DFOGDState, X: Array, costs: Array, draws: dict[str, Array]
    ) -> DFOGDState:
        """Lines 5 to 7 of Algorithm 2."""
        t, loss, vartheta = state.t + 1, self._loss(state, X, costs, draws), state.vartheta
        # 5: ϑ_t = O_ξ(f̃_t), warm-started at ϑ_{t−1}; unchanged in rounds without a call
        call = self.oracle_call(state, X, costs, draws)
        if call and self.problem.oracle.answers(t):
            vartheta = self.problem.oracle.answer(call)
        path_length = state.path_length
        if t > 1:  # P_1 = 0: the path starts at ϑ_1
            path_length = path_length + distance(vartheta, state.vartheta)
        # 6: u_t = ϑ_t + δ_t (θ_t − ϑ_t)
        delta = draws["df_ogd/delta"][:, None]
        u = vartheta + delta * (state.theta - vartheta)
        # 7: θ_{t+1} = Π_Θ(θ_t − η_t ∇f̃_t(u_t))
        eta = self._eta(t, path_length)
        theta, squares = self.descend(state.theta, loss.gradient(u), eta[:, None], state.squares)
        eta = adaptive_rate(squares) if self.adaptive else eta
        return DFOGDState(t, theta, vartheta, path_length, loss.alpha[:, 0], eta, squares)

    @property
    def n(self) -> float:
        """The n of the schedules: the number of faces, or ln d for the entropy, times `belief.faces`."""
        return self.belief.faces * self.problem.regularizer.suboptimality

    @property
    def theorem(self) -> int | None:
        """2, but None for a fixed δ_t: Theorem 2 draws it at random."""
        return 2 if self.delta is None else None

    def _loss(
        self, state: DFOGDState, X: Array, costs: Array, draws: dict[str, Array]
    ) -> SmoothedCost:
        """f̃_t with α_t."""
        alpha = self._alpha(state.t + 1, state.path_length)
        problem = drawn_problem("df_ogd", self.problem, draws)
        return SmoothedCost(problem, X, costs, alpha[:, None])

    def _alpha(self, t: int, path_length: Array) -> Array:
        return self.c_alpha * self.n**-0.5 * t**-0.25 * fourth_root(1.0 + path_length)

    def _eta(self, t: int, path_length: Array) -> Array:
        return self.c_eta * self.n**-0.5 * t**-0.75 * fourth_root(1.0 + path_length) ** 3


@settings
class OGD(DFOGD):
    """DF-OGD without its oracle: descends f̃_t at θ_t itself, with the rates for a path of length 0.

    Zinkevich, *Online Convex Programming and Generalized Infinitesimal Gradient Ascent*, ICML 2003,
    applied to losses that are not convex.
    """

    c_eta: Positive = 1.0
    delta: Annotated[Real, Field(ge=0, le=1)] | None = 1.0
    name = "ogd"
    oracle_call = Algorithm.oracle_call


def fourth_root(x: Array) -> Array:
    """x^{1/4} by square roots, which round correctly; a vectorised pow varies with the batch size."""
    xp = array_namespace(x)
    return xp.sqrt(xp.sqrt(x))


def distance(a: Array, b: Array) -> Array:
    """‖a − b‖ over the last axis."""
    return array_namespace(a).sqrt(dot(a - b, a - b))
