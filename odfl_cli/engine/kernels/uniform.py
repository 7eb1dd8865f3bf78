"""The uniform floor: one formula for a whole block, so there is nothing to compile."""

import numpy as np

from odfl_cli.algorithms import State, Uniform
from odfl_cli.engine.base import Play, Trace
from odfl_cli.environments import Rounds


def prepare(
    algorithm: Uniform, state: State, rounds: Rounds, draws: dict[str, np.ndarray], trace: Trace
) -> tuple[State, Play]:
    """The state after the block, and what fills the trace of seed number s."""
    costs, centre = rounds.costs, algorithm.problem.polytope.interior_point()

    def play(s: int) -> None:
        trace.cost[s] = (costs[s] * centre).sum(-1)
        trace.mse[s] = (costs[s] ** 2).mean(-1)

    return state._replace(t=state.t + costs.shape[1]), play
