"""DF-FTPL: decision-focused follow the perturbed leader (Algorithm 1, Theorem 1)."""

from typing import NamedTuple

import numpy as np
from pydantic import Field

from odfl_cli.algorithms.base import (
    Algorithm,
    Belief,
    failed_calls,
    smoothing_draws,
    start_draws,
    start_points,
)
from odfl_cli.algorithms.units import unit_smoothing
from odfl_cli.core.arrays import Array, to_numpy
from odfl_cli.core.settings import Positive, settings
from odfl_cli.core.streams import Draw
from odfl_cli.problem.oracles.base import OracleCall
from odfl_cli.problem.surrogate import PerturbedLeader


class DFFTPLState(NamedTuple):
    """θ_{t+1} and the history H_t: the rounds stored so far; the rest of the buffer is unused."""

    t: int
    theta: Array  # [S, m]
    X: Array  # [S, capacity, *the shape of X]
    costs: Array  # [S, capacity, d]
    alpha: Array  # [S]
    eta: Array  # [S]


@settings
class SizesBelief(Belief):
    """Errors in all three sizes; a run still has T rounds and θ has m parameters."""

    horizon: Positive = 1.0  # of T
    parameters: Positive = 1.0  # of m


@settings
class DFFTPL(Algorithm):
    """Plays the oracle's minimiser of all smoothed losses so far minus a random linear term.

    α = c_α m^{3/4} n^{1/2} T^{−1/4}  and  η = c_η m^{1/4} T^{−3/4} n^{−1/2}, both constant. With
    theta_radius=auto, α = c_α/2n in units of the data, and the oracle descends 2α times the objective:
    gradients of smoothed decisions are of order 1/α, so that steps have the same length for every set.
    """

    c_alpha: Positive = 1.0
    c_eta: Positive = 1000.0
    belief: SizesBelief = Field(default_factory=SizesBelief)
    name = "df_ftpl"
    takes_offers = True
    needs_units = needs_horizon = True
    kernel = "df_ftpl"
    noted = ("alpha", "eta")

    def draws(self) -> dict[str, Draw]:
        """σ_t up to its scale 1/η, the round's slot in the history, and the oracle's draws."""
        return {
            "df_ftpl/slot": Draw("uniform"),
            "df_ftpl/sigma": Draw("exponential", (self.problem.parameters,)),
            "df_ftpl/sample": Draw("uniform", self.problem.oracle.sample_shape),
            **smoothing_draws("df_ftpl", self.problem),
            **start_draws("df_ftpl", self.problem),
        }

    def init(self, seeds: int, truth: np.ndarray | None) -> DFFTPLState:
        """θ_1 = 0 and an empty history (the buffer uses memory only as it fills)."""
        problem = self.problem
        capacity = problem.oracle.capacity(self.horizon)
        return DFFTPLState(
            t=0,
            theta=np.zeros((seeds, problem.parameters)),
            X=np.zeros((seeds, capacity, *problem.shape)),
            costs=np.zeros((seeds, capacity, problem.items)),
            alpha=np.full(seeds, self.alpha),
            eta=np.full(seeds, self.eta),
        )

    def oracle_call(
        self, state: DFFTPLState, X: Array, costs: Array, draws: dict[str, Array]
    ) -> OracleCall:
        """The call to minimise Σ_{i≤t} f̃_i − ⟨σ_t, ·⟩ (divided by t) from θ_t.

        Writes round t into the history; a second call for the same round changes nothing.
        """
        t, oracle = state.t + 1, self.problem.oracle
        # 4: H_t = H_{t−1} ∪ {(X_t, c_t)}
        slots = oracle.slots(np.asarray([t]), to_numpy(draws["df_ftpl/slot"])[:, None])[:, 0]
        seeds = np.arange(len(slots))
        state.X[seeds, slots], state.costs[seeds, slots] = X, costs
        drawn = draws.get("df_ftpl/smoothing")  # the same for all rounds of the history
        leader = PerturbedLeader(
            self.problem.with_draws(None if drawn is None else drawn[:, None]),
            state.X,
            state.costs,
            held=int(oracle.held(t)),
            t=int(oracle.represented(t)),
            alpha=self.alpha,
            # 5: σ_t with independent Exp(η) entries
            sigma=draws["df_ftpl/sigma"] / self.eta,
            scale=2.0 * self.alpha if self.problem.auto_radius else 1.0,
        )
        points = start_points("df_ftpl", self.problem, draws)
        samples, failed = draws["df_ftpl/sample"], failed_calls("df_ftpl", self.problem, draws)
        return OracleCall(leader, self.problem.theta_set, state.theta, samples, points, failed)

    def update(
        self, state: DFFTPLState, X: Array, costs: Array, draws: dict[str, Array]
    ) -> DFFTPLState:
        """Lines 4 to 6 of Algorithm 1."""
        t = state.t + 1
        call = self.oracle_call(state, X, costs, draws)
        if not self.problem.oracle.answers(t):
            return state._replace(t=t)
        # 6: θ_{t+1} = O_ξ(Σ_{i≤t} f̃_i − ⟨σ_t, ·⟩), warm-started at θ_t
        return state._replace(t=t, theta=self.problem.oracle.answer(call))

    @property
    def theorem(self) -> int | None:
        return 1

    @property
    def alpha(self) -> float:
        """The smoothing α of every round."""
        if self.problem.auto_radius:
            return self.c_alpha * unit_smoothing(self.problem)
        m, n, T = self._sizes()
        return self.c_alpha * m**0.75 * n**0.5 * T**-0.25

    @property
    def eta(self) -> float:
        """The rate η of the perturbation, which has mean 1/η."""
        m, n, T = self._sizes()
        return self.c_eta * m**0.25 * T**-0.75 * n**-0.5

    @property
    def horizon(self) -> int:
        """The T of the schedules, and the length of the longest history."""
        return self.problem.rounds

    def _sizes(self) -> tuple[float, float, float]:
        """The m, n and T of the schedules."""
        problem, belief = self.problem, self.belief
        return (
            belief.parameters * problem.parameters,
            belief.faces * problem.regularizer.suboptimality,
            belief.horizon * self.horizon,
        )
