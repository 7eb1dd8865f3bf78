"""What PF-OGD, SPO+ and SPO as printed share: a state of θ alone and one learning rate η."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import f8, void

from odfl_cli.algorithms import State
from odfl_cli.engine.base import Play, Trace
from odfl_cli.engine.kernels.inner import PARTS
from odfl_cli.engine.parts import parts_of
from odfl_cli.environments import Rounds

SIGNATURE = void(PARTS, f8[:, :, ::1], f8[:, ::1], f8[::1], f8, f8, f8[::1], f8[::1])
"""X [B, d, p], costs [B, d], θ [m] updated in place, η, R; paid [B] and errors [B] are filled."""


def preparing(play: Callable[..., None]) -> Callable[..., tuple[State, Play]]:
    """The `prepare` of a kernel with that signature."""

    def prepare(
        algorithm: Any, state: State, rounds: Rounds, draws: dict[str, np.ndarray], trace: Trace
    ) -> tuple[State, Play]:
        theta, radius = state.theta.copy(), algorithm.problem.theta_set.radius
        parts = parts_of(algorithm.problem)
        after = State(state.t + rounds.costs.shape[1], theta)

        def play_seed(s: int) -> None:
            X, costs, paid, errors = rounds.X[s], rounds.costs[s], trace.cost[s], trace.mse[s]
            play(parts, X, costs, theta[s], algorithm.eta, radius, paid, errors)

        return after, play_seed

    return prepare
