"""DF-OGD, compiled; see odfl_cli.algorithms.df_ogd."""

from typing import NamedTuple, cast

import numpy as np
from numba import f8, i8, types, void

from odfl_cli.algorithms.df_ogd import DFOGD, DFOGDState
from odfl_cli.core.compiling import inner, kernel
from odfl_cli.engine.base import Draws, Play, Trace
from odfl_cli.engine.kernels.steps import (
    CUBE,
    MATRIX,
    RECORD,
    VECTOR,
    copy,
    decide,
    dot,
    each_seed,
    entropy_vjp,
    record_of,
    step,
    times,
    vjp,
)
from odfl_cli.environments.base import Rounds
from odfl_cli.problem.oracles.descent import SGD


class Rules(NamedTuple):
    """The settings of DFOGD, and what its problem decides."""

    alpha: float  # c_α n^{−1/2}
    eta: float  # c_η n^{−1/2}
    radius: float  # of Θ
    steps: int  # of the oracle
    lr: float
    every: int


RULES = types.NamedTuple((f8, f8, f8, i8, f8, i8), Rules)
STATE = types.NamedTuple((i8, *[VECTOR] * 6), DFOGDState)


@inner
def fourth_root(x):
    """x^{1/4}."""
    return np.sqrt(np.sqrt(x))


@inner
def descend(A, wide, costs, at, alpha, rate, radius, w, gradient, theta):
    """θ = Π_Θ(θ − rate·∇f̃(at)) in place; A is X, transposed if `wide`; w [d] and gradient [m] are scratch."""
    if wide:
        vjp(A, at, w)
    else:
        times(A, at, w)
    entropy_vjp(w, 1.0 / alpha, costs)
    step(theta, rate, times(A, w, gradient) if wide else vjp(A, w, gradient), radius)


@kernel(void(RULES, CUBE, MATRIX, VECTOR, STATE, RECORD, VECTOR, VECTOR, VECTOR))
def play(rules, X, costs, deltas, state, record, alphas, etas, lengths):
    """A block of rounds of one seed: X [B, d, m], costs [B, d], δ [B]; notes α, η and P, [B] each.

    The arrays of the state are updated. A round's X is transposed where there are more items than
    features, so that the inner loops are long.
    """
    d, m = X.shape[1:]
    wide, w, u, gradient = d > m, np.empty(d), np.empty(m), np.empty(m)
    A = np.empty((m, d) if wide else (d, m))
    theta, vartheta, length, alpha, eta = state[1:6]
    for i in range(costs.shape[0]):
        t = state.t + i + 1
        decide(X, costs, i, theta, w, record)
        A[:] = X[i].T if wide else X[i]
        alpha[0] = rules.alpha * t**-0.25 * fourth_root(1.0 + length[0])
        # 5: ϑ_t = O_ξ(f̃_t), warm-started at ϑ_{t−1}
        copy(vartheta, u)
        for _ in range(rules.steps if (t - 1) % rules.every == 0 else 0):
            descend(A, wide, costs[i], u, alpha[0], rules.lr, rules.radius, w, gradient, u)
        for j in range(m):
            gradient[j] = u[j] - vartheta[j]
        length[0] += np.sqrt(dot(gradient, gradient)) if t > 1 else 0.0
        copy(u, vartheta)
        # 6: u_t = ϑ_t + δ_t (θ_t − ϑ_t)
        for j in range(m):
            u[j] += deltas[i] * (theta[j] - u[j])
        # 7: θ_{t+1} = Π_Θ(θ_t − η_t ∇f̃_t(u_t))
        eta[0] = rules.eta * t**-0.75 * fourth_root(1.0 + length[0]) ** 3
        descend(A, wide, costs[i], u, alpha[0], eta[0], rules.radius, w, gradient, theta)
        alphas[i], etas[i], lengths[i] = alpha[0], eta[0], length[0]


def prepare(
    algorithm: DFOGD, state: DFOGDState, rounds: Rounds, draws: Draws, trace: Trace
) -> tuple[DFOGDState, Play]:
    """The state after the block, and the function that computes it and the trace for seed number s."""
    radius, oracle = algorithm.problem.theta_set.radius, cast(SGD, algorithm.problem.oracle)
    scale, descent = algorithm.n**-0.5, (oracle.steps, oracle.lr, oracle.every)
    rules = Rules(algorithm.c_alpha * scale, algorithm.c_eta * scale, radius, *descent)

    def play_seed(seed_state: DFOGDState, s: int) -> None:
        notes = (trace.notes[name][s] for name in algorithm.noted)
        seen = rounds.X[s], rounds.costs[s], draws["df_ogd/delta"][s]
        play(rules, *seen, seed_state, record_of(trace, s), *notes)

    return each_seed(state, rounds.costs.shape[1], DFOGDState._fields[1:], play_seed)
