"""The clairvoyant floor, compiled: decides and never learns."""

from collections.abc import Callable

import numpy as np

from odfl_cli.algorithms import Clairvoyant, State
from odfl_cli.compiling import kernel
from odfl_cli.engine.base import Trace
from odfl_cli.engine.kernels.inner import decide
from odfl_cli.environments import Rounds


@kernel("void(f8[:,:,::1], f8[:,::1], f8[::1], f8[::1], f8[::1])")
def play(X, costs, theta, paid, errors):
    """Rounds of one seed with a fixed θ."""
    prediction = np.empty(costs.shape[1])
    for t in range(costs.shape[0]):
        _, paid[t], errors[t] = decide(X[t], costs[t], theta, prediction)


def prepare(
    algorithm: Clairvoyant, state: State, rounds: Rounds, draws: dict[str, np.ndarray], trace: Trace
) -> tuple[State, Callable[[int], None]]:
    """The state after the block, and what fills the trace of seed number s."""
    X, costs, theta = rounds.X, rounds.costs, state.theta
    after = state._replace(t=state.t + costs.shape[1])
    return after, lambda s: play(X[s], costs[s], theta[s], trace.cost[s], trace.mse[s])
