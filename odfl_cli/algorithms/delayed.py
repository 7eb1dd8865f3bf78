"""Gradient descent with delayed costs: gradients at the θ of the round, or at the current θ.

Quanrud & Khashabi, *Online Learning with Adversarial Delays*, NeurIPS 2015 (`delayed_ogd`); Amoh,
Parker & Marrero, *IGT-OMD: Implicit Gradient Transport for Decision-Focused Learning under Delayed
Feedback*, arXiv 2605.12693, 2026 (`igt_omd`).
"""

from typing import Literal, NamedTuple

import numpy as np

from odfl_cli.algorithms.base import PartialLearner, drawn_problem, smoothing_draws
from odfl_cli.algorithms.df_ogd import fourth_root
from odfl_cli.core.arrays import Array, array_namespace
from odfl_cli.core.settings import Positive, settings
from odfl_cli.core.streams import Draw
from odfl_cli.feedback.base import Seen
from odfl_cli.problem.surrogate import SmoothedCost


class DelayedState(NamedTuple):
    """θ_{t+1}, and the sum over arrivals of the number of rounds still waiting."""

    t: int
    theta: Array  # [S, m]
    queued: Array  # Q_t, [S]


@settings
class DelayedOGD(PartialLearner):
    """θ ← Π_Θ(θ − η ∇f̃_s(u)) when the costs of round s arrive, with u = θ_s, or the current θ if transported.

    α = c_α n^{−1/2} (t + Q_t)^{−1/4} and η = c_η n^{−1/2} (t + Q_t)^{−3/4} at the t-th arrival, where Q_t
    sums the lengths of the queue at the arrivals so far; without delay these are the rates of `ogd`.
    """

    c_alpha: Positive = 3.0
    c_eta: Positive = 1.0
    gradient: Literal["stale", "transported"] = "stale"
    name = "delayed_ogd"
    needs_units = True

    def draws(self) -> dict[str, Draw]:
        return smoothing_draws(self.name, self.problem)

    def init(self, seeds: int, truth: np.ndarray | None) -> DelayedState:
        return DelayedState(0, np.zeros((seeds, self.problem.parameters)), np.zeros(seeds))

    def memo(self, state: DelayedState, X: Array, draws: dict[str, Array] | None) -> Array:
        """θ_s, [S, m]."""
        return state.theta

    def rates(self, time: Array) -> tuple[Array, Array]:
        """α and η without the factor n^{−1/2}; `time` is t + Q_t, [S, 1]."""
        root = fourth_root(time)
        return self.c_alpha / root, self.c_eta / root**3

    def learn(self, state: DelayedState, seen: Seen, draws: dict[str, Array]) -> DelayedState:
        t, scale = state.t + 1, self.problem.regularizer.suboptimality**-0.5
        queued = state.queued + (seen.t + seen.late - t)  # rounds played but not seen
        alpha, eta = self.rates((t + queued)[:, None])
        problem = drawn_problem(self.name, self.problem, draws)
        u = seen.memo if self.gradient == "stale" else state.theta
        gradient = SmoothedCost(problem, seen.X, seen.costs, scale * alpha).gradient(u)
        theta = problem.theta_set.project(state.theta - scale * eta * gradient)
        return DelayedState(t, theta, queued)


@settings
class IGTOMD(DelayedOGD):
    """IGT-OMD, implemented from its abstract: mirror descent with gradients at the current θ.

    α = c_α n^{−1/2}, η = c_η n^{−1/2} (t + Q_t)^{−1/2}. The abstract does not specify the rest. Here the
    mirror map is ½‖θ‖², which fits a ball, and η is that of Joulani, György & Szepesvári,
    *Delay-Tolerant Online Convex Optimization*, AAAI 2016. Inner problems are solved again: with a
    stored solution the gradient of a linear predictor would be the stale one.
    """

    c_alpha: Positive = 1.0
    c_eta: Positive = 0.3
    gradient: Literal["stale", "transported"] = "transported"
    name = "igt_omd"

    def rates(self, time: Array) -> tuple[Array, Array]:
        return self.c_alpha + 0.0 * time, self.c_eta / array_namespace(time).sqrt(time)
