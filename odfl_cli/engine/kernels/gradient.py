"""θ_{t+1} = Π_Θ(θ_t − η ∇gᵀ v_t), compiled for every v_t of odfl_cli.algorithms.gradient."""

import numpy as np
from numba import f8, i8, void

from odfl_cli.algorithms.gradient import GradientLearner, GradientState
from odfl_cli.core.compiling import inner, kernel
from odfl_cli.engine.base import Draws, Play, Trace
from odfl_cli.engine.kernels.exponential import exp
from odfl_cli.engine.kernels.matrices import vjp
from odfl_cli.engine.kernels.steps import RECORD, cheapest, decide, each_seed, record_of, step
from odfl_cli.environments.base import Rounds

DIRECTIONS = ("pf_ogd", "spo", "spo_printed", "fenchel_young", "perturbed")
SMOOTHING = {"fenchel_young": "alpha", "perturbed": "epsilon"}
"""Algorithm → the setting by which it smooths decisions."""
PF_OGD, SPO, SPO_PRINTED, FENCHEL_YOUNG, PERTURBED = range(5)


@inner
def softmax(g, alpha, w):
    """w = exp(−g/α), normalised; shifted by the largest exponent against overflow."""
    lowest, total = g[cheapest(g)], 0.0
    for i in range(w.shape[0]):
        w[i] = exp((lowest - g[i]) / alpha)
        total += w[i]
    for i in range(w.shape[0]):
        w[i] /= total


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


@kernel(void(i8, f8, f8, f8, f8[:, :, ::1], f8[:, ::1], f8[:, :, ::1], f8[::1], RECORD))
def play(direction, eta, smoothing, radius, X, costs, noise, theta, record):
    """Rounds of one seed: X [B, d, p], costs [B, d], noise [B, n, d]; θ [m] is updated in place."""
    d = costs.shape[1]
    prediction, v, gradient = np.empty(d), np.empty(d), np.empty(theta.shape[0])
    for t in range(costs.shape[0]):
        decide(X, costs, t, theta, prediction, record)
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
    algorithm: GradientLearner, state: GradientState, rounds: Rounds, draws: Draws, trace: Trace
) -> tuple[GradientState, Play]:
    """The state after the block, and the function that computes it and the trace for seed number s."""
    name, radius = algorithm.name, algorithm.problem.theta_set.radius
    smoothing = getattr(algorithm, SMOOTHING[name]) if name in SMOOTHING else 0.0
    constants = DIRECTIONS.index(name), algorithm.eta, smoothing, radius
    seeds, length = rounds.costs.shape[:2]
    noise = draws.get(f"{name}/noise", np.empty((seeds, length, 0, 0)))

    def play_seed(own: GradientState, s: int) -> None:
        seen = rounds.X[s], rounds.costs[s], noise[s]
        play(*constants, *seen, own.theta, record_of(trace, s))

    return each_seed(state, length, ("theta",), play_seed)
