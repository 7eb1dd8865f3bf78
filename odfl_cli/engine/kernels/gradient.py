"""θ_{t+1} = Π_Θ(θ_t − η ∇gᵀ v_t), compiled for every v_t of odfl_cli.algorithms.gradient."""

import numpy as np
from numba import f8, i8, void

from odfl_cli.algorithms import GradientLearner, State
from odfl_cli.core.compiling import inner, kernel
from odfl_cli.engine.base import Play, Trace
from odfl_cli.engine.kernels.steps import PLAYED, cheapest, decide, rows_of, softmax, step, vjp
from odfl_cli.environments import Rounds

DIRECTIONS = ("pf_ogd", "spo", "spo_printed", "fenchel_young", "perturbed")
PF_OGD, SPO, SPO_PRINTED, FENCHEL_YOUNG, PERTURBED = range(5)


@inner
def perturbed(costs, prediction, epsilon, noise, v):
    """v = Σ_i (p_i − p̄) Z_i / (ε (n − 1)) with p_i = ⟨c, w*(ĉ + εZ_i)⟩ for noise Z [n, d]."""
    n = noise.shape[0]
    paid = np.empty(n)
    mean = 0.0
    for i in range(n):
        for j in range(v.shape[0]):
            v[j] = prediction[j] + epsilon * noise[i, j]
        paid[i] = costs[cheapest(v)]
        mean += (paid[i] - paid[0]) / n
    v[:] = 0.0
    for i in range(n):
        for j in range(v.shape[0]):
            v[j] += (paid[i] - paid[0] - mean) * noise[i, j] / (epsilon * (n - 1))


@kernel(void(i8, f8, f8, f8, f8[:, :, ::1], f8[:, ::1], f8[:, :, ::1], f8[::1], PLAYED))
def play(direction, eta, smoothing, radius, X, costs, noise, theta, played):
    """Rounds of one seed: X [B, d, p], costs [B, d], noise [B, n, d]; θ [m] is updated in place."""
    d = costs.shape[1]
    prediction, v, gradient = np.empty(d), np.empty(d), np.empty(theta.shape[0])
    for t in range(costs.shape[0]):
        decide(X, costs, t, theta, prediction, played)
        if direction == PF_OGD:
            for i in range(d):
                v[i] = 2.0 * (prediction[i] - costs[t, i])
        elif direction == SPO:
            for i in range(d):
                prediction[i] = 2.0 * prediction[i] - costs[t, i]
            v[:] = 0.0
            v[cheapest(costs[t])] += 2.0
            v[cheapest(prediction)] -= 2.0
        elif direction == SPO_PRINTED:
            v[:] = 0.0
            v[cheapest(prediction)] = -1.0
        elif direction == FENCHEL_YOUNG:
            softmax(prediction, smoothing, v)
            for i in range(d):
                v[i] = -v[i]
            v[cheapest(costs[t])] += 1.0
        else:
            perturbed(costs[t], prediction, smoothing, noise[t], v)
        vjp(X[t], v, gradient)
        step(theta, eta, gradient, radius)


def prepare(
    algorithm: GradientLearner,
    state: State,
    rounds: Rounds,
    draws: dict[str, np.ndarray],
    trace: Trace,
) -> tuple[State, Play]:
    """The state after the block, and the function that fills it and the trace for seed number s."""
    theta, direction = state.theta.copy(), DIRECTIONS.index(algorithm.name)
    radius = algorithm.problem.theta_set.radius
    constants = direction, algorithm.eta, algorithm.smoothing, radius
    seeds, length = rounds.costs.shape[:2]
    noise = draws.get(f"{algorithm.name}/noise", np.empty((seeds, length, 0, 0)))

    def play_seed(s: int) -> None:
        seen, learnt = (rounds.X[s], rounds.costs[s], noise[s]), theta[s].copy()
        play(*constants, *seen, learnt, rows_of(trace, s))
        theta[s] = learnt

    return State(state.t + length, theta), play_seed
