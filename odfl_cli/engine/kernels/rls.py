"""Recursive least squares, compiled; see odfl_cli.algorithms.rls."""

from typing import NamedTuple

import numpy as np
from numba import f8, i8, types, void

from odfl_cli.algorithms import RLS
from odfl_cli.algorithms.rls import TINY, RLSState
from odfl_cli.core.compiling import inner, kernel
from odfl_cli.engine.base import Play, Trace
from odfl_cli.engine.kernels.matrices import solve, times
from odfl_cli.engine.kernels.steps import PLAYED, decide, project, rows_of
from odfl_cli.environments import Rounds


class Sums(NamedTuple):
    """The fields of RLSState that are updated in place, of one seed."""

    theta: np.ndarray  # [m]
    gram: np.ndarray  # [J, m, m]
    moment: np.ndarray  # [J, m]
    thetas: np.ndarray  # [J, m]
    omega: np.ndarray  # [J]
    missed: np.ndarray  # [1]


VECTOR, MATRIX, CUBE = f8[::1], f8[:, ::1], f8[:, :, ::1]
SUMS = types.NamedTuple((VECTOR, CUBE, MATRIX, MATRIX, VECTOR, VECTOR), Sums)


@inner
def weigh_memories(D, costs, t, sums, prediction, combined, score):
    """ω_j ∝ ω_j exp(−½ ‖c − Dθ_j‖²/σ²), then fixed share 1/t."""
    d, J = costs.shape[0], score.shape[0]
    combined[:] = 0.0
    for j in range(J):
        times(D, sums.thetas[j], prediction)
        score[j] = 0.0
        for i in range(d):
            combined[i] += sums.omega[j] * prediction[i]
            score[j] += (costs[i] - prediction[i]) ** 2
    for i in range(d):
        sums.missed[0] += (costs[i] - combined[i]) ** 2 / d
    usual, best, total = max(sums.missed[0] / t, TINY), np.inf, 0.0
    for j in range(J):
        score[j] *= 0.5 / usual
        best = min(best, score[j])
    for j in range(J):
        sums.omega[j] *= np.exp(best - score[j])
        total += sums.omega[j]
    for j in range(J):
        weight = sums.omega[j] / total
        sums.omega[j] = weight + (1.0 / J - weight) / t


@inner
def remember(D, costs, phi, gram, moment):
    """G ← φG + DᵀD in the lower triangle and b ← φb + Dᵀc."""
    for k in range(moment.shape[0]):
        moment[k] *= phi
        for n in range(k + 1):
            gram[k, n] *= phi
    for i in range(costs.shape[0]):
        for k in range(moment.shape[0]):
            moment[k] += costs[i] * D[i, k]
            for n in range(k + 1):
                gram[k, n] += D[i, k] * D[i, n]


@inner
def estimate(gram, moment, ridge, scratch, theta):
    """θ = (λI + G)⁻¹ b; fills G's upper triangle from the lower."""
    for k in range(theta.shape[0]):
        theta[k] = moment[k]
        for n in range(k + 1):
            gram[n, k] = gram[k, n]
            scratch[k, n] = scratch[n, k] = gram[k, n]
        scratch[k, k] += ridge
    solve(scratch, theta)


@kernel(void(VECTOR, f8, f8, i8, CUBE, MATRIX, SUMS, PLAYED))
def play(fading, ridge, radius, start, X, costs, sums, played):
    """Rounds of one seed after round `start`: X [B, d, m], costs [B, d]."""
    d, m, J = X.shape[1], X.shape[2], fading.shape[0]
    prediction, w, scratch, score = np.empty(d), np.empty(d), np.empty((m, m)), np.empty(J)
    for i in range(costs.shape[0]):
        decide(X, costs, i, sums.theta, prediction, played)
        weigh_memories(X[i], costs[i], start + i + 1, sums, prediction, w, score)
        sums.theta[:] = 0.0
        for j in range(J):
            remember(X[i], costs[i], fading[j], sums.gram[j], sums.moment[j])
            estimate(sums.gram[j], sums.moment[j], ridge, scratch, sums.thetas[j])
            for k in range(m):
                sums.theta[k] += sums.omega[j] * sums.thetas[j, k]
        project(sums.theta, radius)


def prepare(
    algorithm: RLS, state: RLSState, rounds: Rounds, draws: dict[str, np.ndarray], trace: Trace
) -> tuple[RLSState, Play]:
    """The state after the block, and the function that fills it and the trace for seed number s."""
    radius = algorithm.problem.theta_set.radius
    constants = algorithm.fading, algorithm.ridge, radius, state.t
    filled = {name: getattr(state, name).copy() for name in Sums._fields}

    def play_seed(s: int) -> None:
        sums = Sums(*(np.atleast_1d(values[s]).copy() for values in filled.values()))
        play(*constants, rounds.X[s], rounds.costs[s], sums, rows_of(trace, s))
        for values, after in zip(filled.values(), sums, strict=True):
            values[s] = after if values.ndim > 1 else after[0]

    return state._replace(t=state.t + rounds.costs.shape[1], **filled), play_seed
