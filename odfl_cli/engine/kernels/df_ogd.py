"""DF-OGD, compiled; see odfl_cli.algorithms.df_ogd."""

import numpy as np

from odfl_cli.algorithms import DFOGD
from odfl_cli.algorithms.df_ogd import DFOGDState
from odfl_cli.core.compiling import kernel
from odfl_cli.core.signatures import f8, i8
from odfl_cli.engine.base import Play, Trace
from odfl_cli.engine.kernels.inner import PARTS, PLAYED, apart, decide, distance, played_by, step
from odfl_cli.engine.kernels.smoothing import ALPHA, STEPS, NewtonReports, smoothed_gradient
from odfl_cli.engine.parts import descent_of, parts_of
from odfl_cli.environments import Rounds
from odfl_cli.problem.regularizers.newton import copy


@kernel(
    i8(
        PARTS, f8[:, :, ::1], f8[:, ::1], f8[::1], i8, f8[::1], f8[::1], f8[::1],
        f8, f8, f8, f8, i8, f8, i8,
        PLAYED, f8[::1], f8[::1], f8[::1], f8[::1], f8[::1],
    )
)  # fmt: skip
def play(
    parts, X, costs, deltas, t, theta, vartheta, path,
    c_alpha, c_eta, n, radius, steps, lr, every,
    played, alphas, etas, paths, newton_steps, newton,
):  # fmt: skip
    """Rounds t + 1, … of one seed; θ [m], ϑ [m] and P [1] are updated in place.

    Returns the number of rounds played: fewer than given where Newton's method fails.
    """
    prediction, w = np.empty(costs.shape[1]), np.empty(costs.shape[1])
    u, gradient = np.empty_like(theta), np.empty_like(theta)
    for k in range(costs.shape[0]):
        t += 1
        newton[STEPS] = 0.0
        decide(parts, X, costs, k, theta, prediction, w, played)
        alpha = c_alpha * n**-0.5 * t**-0.25 * np.sqrt(np.sqrt(1.0 + path[0]))
        copy(vartheta, u)
        calls = steps if (t - 1) % every == 0 else 0
        # One call of smoothed_gradient, which is inlined: for the oracle's steps, then the learner's.
        for call in range(calls + 1):
            if call == calls:
                path[0] += distance(u, vartheta) if t > 1 else 0.0
                copy(u, vartheta)
                # 6: u_t = ϑ_t + δ_t (θ_t − ϑ_t)
                for j in range(u.shape[0]):
                    u[j] = vartheta[j] + deltas[k] * (theta[j] - vartheta[j])
            smoothed_gradient(parts, X, costs, k, u, alpha, w, newton, gradient)
            if call < calls:
                # 5: ϑ_t = O_ξ(f̃_t), warm-started at ϑ_{t−1}
                step(u, lr, gradient, radius)
        # 7: θ_{t+1} = Π_Θ(θ_t − η_t ∇f̃_t(u_t))
        eta = c_eta * n**-0.5 * t**-0.75 * np.sqrt(np.sqrt(1.0 + path[0])) ** 3
        step(theta, eta, gradient, radius)
        alphas[k], etas[k], paths[k] = alpha, eta, path[0]
        newton_steps[k] = newton[STEPS]
        if newton[ALPHA] > 0.0:
            return k
    return costs.shape[0]


def prepare(
    algorithm: DFOGD, state: DFOGDState, rounds: Rounds, draws: dict[str, np.ndarray], trace: Trace
) -> tuple[DFOGDState, Play]:
    """The state after the block, and the function that fills it and the trace for seed number s."""
    problem = algorithm.problem
    parts, reports = parts_of(problem), NewtonReports(trace)
    theta, vartheta = apart(state.theta), apart(state.vartheta)
    path, delta = apart(state.path_length[:, None]), draws["df_ogd/delta"]
    constants = algorithm.c_alpha, algorithm.c_eta, algorithm.n, *descent_of(problem)
    notes = [trace.notes[name] for name in algorithm.noted]
    alpha, eta = np.empty_like(state.alpha), np.empty_like(state.eta)

    def play_seed(s: int) -> None:
        seen = rounds.X[s], rounds.costs[s], delta[s]
        learnt = theta[s], vartheta[s], path[s]
        left = played_by(s, trace), *(values[s] for values in notes)
        played = play(parts, *seen, state.t, *learnt, *constants, *left, *reports.of(s))
        reports.check(s, played)
        alpha[s], eta[s] = notes[0][s, -1], notes[1][s, -1]

    after = DFOGDState(state.t + rounds.costs.shape[1], theta, vartheta, path[:, 0], alpha, eta)
    return after, play_seed
