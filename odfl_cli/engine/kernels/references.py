"""The two references: the uniform one is a formula, the clairvoyant one decides and never learns."""

import numpy as np

from odfl_cli.algorithms import Algorithm, State
from odfl_cli.core.compiling import kernel
from odfl_cli.core.signatures import f8, void
from odfl_cli.engine.base import Play, Trace
from odfl_cli.engine.kernels.inner import PARTS, PLAYED, decide, played_by
from odfl_cli.engine.parts import parts_of
from odfl_cli.environments import Rounds


@kernel(void(PARTS, f8[:, :, ::1], f8[:, ::1], f8[::1], PLAYED))
def play(parts, X, costs, theta, played):
    """Rounds of one seed with a fixed θ."""
    prediction, w = np.empty(costs.shape[1]), np.empty(costs.shape[1])
    for t in range(costs.shape[0]):
        decide(parts, X, costs, t, theta, prediction, w, played)


def prepare(
    algorithm: Algorithm, state: State, rounds: Rounds, draws: dict[str, np.ndarray], trace: Trace
) -> tuple[State, Play]:
    """The state after the block, and the function that fills the trace of seed number s."""
    X, costs, theta, parts = rounds.X, rounds.costs, state.theta, parts_of(algorithm.problem)
    centre = algorithm.problem.polytope.interior_point()

    def clairvoyant(s: int) -> None:
        play(parts, X[s], costs[s], theta[s], played_by(s, trace))

    def uniform(s: int) -> None:
        trace.cost[s] = (costs[s] * centre).sum(-1)
        trace.mse[s] = (costs[s] ** 2).mean(-1)

    after = state._replace(t=state.t + costs.shape[1])
    return after, uniform if algorithm.name == "uniform" else clairvoyant
