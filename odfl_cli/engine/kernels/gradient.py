"""θ_{t+1} = Π_Θ(θ_t − η ∇gᵀ v_t), compiled for every v_t of odfl_cli.algorithms.gradient."""

import numpy as np

from odfl_cli.algorithms import GradientLearner, State
from odfl_cli.core.compiling import allocating, kernel
from odfl_cli.core.signatures import f8, i8
from odfl_cli.engine.base import Play, Trace
from odfl_cli.engine.kernels.inner import PARTS, PLAYED, apart, decide, dot, played_by, step
from odfl_cli.engine.kernels.polytopes import minimise
from odfl_cli.engine.kernels.predictors import vjp
from odfl_cli.engine.kernels.smoothing import ALPHA, STEPS, NewtonReports, smoothed_decision
from odfl_cli.engine.parts import parts_of
from odfl_cli.environments import Rounds

DIRECTIONS = ("pf_ogd", "spo", "spo_printed", "fenchel_young", "perturbed")
PF_OGD, SPO, SPO_PRINTED, FENCHEL_YOUNG, PERTURBED = range(5)


@allocating
def perturbed(parts, costs, prediction, epsilon, noise, v, w):
    """v = Σ_i (p_i − p̄) Z_i / (ε (n − 1)) with p_i = ⟨c, w*(ĉ + εZ_i)⟩ for noise Z [n, d]."""
    n = noise.shape[0]
    paid = np.empty(n)
    mean = 0.0
    for i in range(n):
        for j in range(v.shape[0]):
            v[j] = prediction[j] + epsilon * noise[i, j]
        minimise(parts.polytope, parts.numbers, v, w)
        paid[i] = dot(costs, w)
        mean += (paid[i] - paid[0]) / n
    v[:] = 0.0
    for i in range(n):
        for j in range(v.shape[0]):
            v[j] += (paid[i] - paid[0] - mean) * noise[i, j] / (epsilon * (n - 1))


@kernel(
    i8(
        PARTS, i8, f8, f8, f8, f8[:, :, ::1], f8[:, ::1], f8[:, :, ::1],
        f8[::1], PLAYED, f8[::1], f8[::1],
    )
)  # fmt: skip
def play(
    parts, direction, eta, smoothing, radius, X, costs, noise,
    theta, played, newton_steps, newton,
):  # fmt: skip
    """Rounds of one seed: X [B, d, p], costs [B, d], noise [B, n, d]; θ [m] is updated in place.

    Returns the number of rounds played: fewer than given where Newton's method fails.
    """
    d = costs.shape[1]
    prediction, w, best, v = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    gradient = np.empty(theta.shape[0])
    for t in range(costs.shape[0]):
        newton[STEPS] = 0.0
        decide(parts, X, costs, t, theta, prediction, w, played)
        if direction in (SPO, FENCHEL_YOUNG):
            minimise(parts.polytope, parts.numbers, costs[t], best)
        if direction == PF_OGD:
            for i in range(d):
                v[i] = 2.0 * (prediction[i] - costs[t, i])
        elif direction == SPO:
            for i in range(d):
                prediction[i] = 2.0 * prediction[i] - costs[t, i]
            minimise(parts.polytope, parts.numbers, prediction, w)
            for i in range(d):
                v[i] = 2.0 * (best[i] - w[i])
        elif direction == SPO_PRINTED:
            minimise(parts.polytope, parts.numbers, prediction, w)
            for i in range(d):
                v[i] = -w[i]
        elif direction == FENCHEL_YOUNG:
            smoothed_decision(parts, prediction, smoothing, w, newton)
            for i in range(d):
                v[i] = best[i] - w[i]
        else:
            perturbed(parts, costs[t], prediction, smoothing, noise[t], v, w)
        vjp(parts.predictor, X[t], v, gradient)
        step(theta, eta, gradient, radius)
        newton_steps[t] = newton[STEPS]
        if newton[ALPHA] > 0.0:
            return t
    return costs.shape[0]


def prepare(
    algorithm: GradientLearner,
    state: State,
    rounds: Rounds,
    draws: dict[str, np.ndarray],
    trace: Trace,
) -> tuple[State, Play]:
    """The state after the block, and the function that fills it and the trace for seed number s."""
    problem, theta, reports = algorithm.problem, apart(state.theta), NewtonReports(trace)
    direction = DIRECTIONS.index(algorithm.name)
    constants = direction, algorithm.eta, algorithm.smoothing, problem.theta_set.radius
    seeds, length = rounds.costs.shape[:2]
    noise = draws.get(f"{algorithm.name}/noise", np.empty((seeds, length, 0, 0)))
    parts = parts_of(problem)

    def play_seed(s: int) -> None:
        seen = rounds.X[s], rounds.costs[s], noise[s]
        left = theta[s], played_by(s, trace), *reports.of(s)
        reports.check(s, play(parts, *constants, *seen, *left))

    return State(state.t + length, theta), play_seed
