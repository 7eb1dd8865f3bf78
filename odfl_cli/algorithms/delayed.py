"""Gradient descent on costs that come late: at the θ of then, or transported to the θ of now.

Amoh, Parker & Marrero, *IGT-OMD: Implicit Gradient Transport for Decision-Focused Learning under
Delayed Feedback*, arXiv 2605.12693, 2026. This is what its abstract determines, not its algorithm:
a gradient of an old round is evaluated again at the current θ, and steps shrink with the number of
rounds that wait. Decisions are smoothed as in DF-OGD, the mirror map is Euclidean and the smoothed
decision is solved for again, as it is a formula here; the paper stores it.
"""

from typing import Literal, NamedTuple

import numpy as np

from odfl_cli.algorithms.base import PartialLearner, drawn_problem, smoothing_draws
from odfl_cli.core.arrays import Array
from odfl_cli.core.settings import Positive, settings
from odfl_cli.core.streams import Draw
from odfl_cli.feedback.base import Seen
from odfl_cli.problem.surrogate import SmoothedCost


class DelayedState(NamedTuple):
    """θ_{t+1}, and how many rounds were waiting after each arrival, summed."""

    t: int
    theta: Array  # [S, m]
    queued: Array  # Q_t, [S]


@settings
class DelayedOGD(PartialLearner):
    """θ ← Π_Θ(θ − η ∇f̃_s(u)) when the costs of round s arrive, with u the θ of now, or θ_s if stale.

    α = c_α n^{−1/2} (t + Q_t)^{−1/4} and η = c_η n^{−1/2} (t + Q_t)^{−3/4} at the t-th arrival, where Q_t
    sums the lengths of the queue at the arrivals so far; without delay these are the rates of `ogd`.
    """

    c_alpha: Positive = 1.0
    c_eta: Positive = 1.0
    gradient: Literal["transported", "stale"] = "transported"
    name = "delayed_ogd"
    needs_units = True

    def draws(self) -> dict[str, Draw]:
        return smoothing_draws("delayed_ogd", self.problem)

    def init(self, seeds: int, truth: np.ndarray | None) -> DelayedState:
        return DelayedState(0, np.zeros((seeds, self.problem.parameters)), np.zeros(seeds))

    def memo(self, state: DelayedState, X: Array, draws: dict[str, Array] | None) -> Array:
        """θ_s, [S, m]."""
        return state.theta

    def learn(self, state: DelayedState, seen: Seen, draws: dict[str, Array]) -> DelayedState:
        t, n = state.t + 1, self.problem.regularizer.suboptimality
        queued = state.queued + (seen.t + seen.late - t)  # rounds that were played, but not seen
        time = (t + queued)[:, None]
        alpha, eta = self.c_alpha * n**-0.5 * time**-0.25, self.c_eta * n**-0.5 * time**-0.75
        problem = drawn_problem("delayed_ogd", self.problem, draws)
        u = seen.memo if self.gradient == "stale" else state.theta
        gradient = SmoothedCost(problem, seen.X, seen.costs, alpha).gradient(u)
        return DelayedState(t, problem.theta_set.project(state.theta - eta * gradient), queued)
