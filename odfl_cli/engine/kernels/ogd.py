"""DF-OGD without its oracle, compiled; see odfl_cli.algorithms.df_ogd."""

import numpy as np

from odfl_cli.algorithms import OGD, State
from odfl_cli.core.compiling import kernel
from odfl_cli.core.signatures import f8, i8
from odfl_cli.engine.base import Play, Trace
from odfl_cli.engine.kernels.inner import PARTS, PLAYED, apart, decide, played_by, step
from odfl_cli.engine.kernels.smoothing import ALPHA, STEPS, NewtonReports, smoothed_gradient
from odfl_cli.engine.parts import parts_of
from odfl_cli.environments import Rounds


@kernel(
    i8(
        PARTS, f8, f8, f8, f8, i8, f8[:, :, ::1], f8[:, ::1],
        f8[::1], PLAYED, f8[::1], f8[::1],
    )
)  # fmt: skip
def play(
    parts, c_alpha, c_eta, n, radius, t, X, costs,
    theta, played, newton_steps, newton,
):  # fmt: skip
    """Rounds t + 1, … of one seed; θ [m] is updated in place.

    Returns the number of rounds played: fewer than given where Newton's method fails.
    """
    prediction, w = np.empty(costs.shape[1]), np.empty(costs.shape[1])
    gradient = np.empty_like(theta)
    for k in range(costs.shape[0]):
        t += 1
        newton[STEPS] = 0.0
        decide(parts, X, costs, k, theta, prediction, w, played)
        alpha = c_alpha * n**-0.5 * t**-0.25
        smoothed_gradient(parts, X, costs, k, theta, alpha, w, newton, gradient)
        # θ_{t+1} = Π_Θ(θ_t − η_t ∇f̃_t(θ_t))
        step(theta, c_eta * n**-0.5 * t**-0.75, gradient, radius)
        newton_steps[k] = newton[STEPS]
        if newton[ALPHA] > 0.0:
            return k
    return costs.shape[0]


def prepare(
    algorithm: OGD, state: State, rounds: Rounds, draws: dict[str, np.ndarray], trace: Trace
) -> tuple[State, Play]:
    """The state after the block, and the function that fills it and the trace for seed number s."""
    problem, theta, reports = algorithm.problem, apart(state.theta), NewtonReports(trace)
    n, radius = problem.regularizer.suboptimality, problem.theta_set.radius
    constants = parts_of(problem), algorithm.c_alpha, algorithm.c_eta, n, radius, state.t

    def play_seed(s: int) -> None:
        left = theta[s], played_by(s, trace), *reports.of(s)
        reports.check(s, play(*constants, rounds.X[s], rounds.costs[s], *left))

    return State(state.t + rounds.costs.shape[1], theta), play_seed
