"""DF-FTPL, compiled; see odfl_cli.algorithms.df_ftpl."""

from typing import cast

import numpy as np
from numba import f8, i8, void

from odfl_cli.algorithms.df_ftpl import DFFTPL, DFFTPLState
from odfl_cli.core.compiling import kernel
from odfl_cli.engine.base import Draws, Play, Trace
from odfl_cli.engine.kernels.steps import (
    RECORD,
    decide,
    each_seed,
    entropy_vjp,
    record_of,
    step,
    times,
    vjp,
)
from odfl_cli.environments.base import Rounds
from odfl_cli.problem.oracles.descent import SGD


@kernel(
    void(
        f8[:, :, ::1], f8[:, ::1], f8[:, ::1], f8[:, :, ::1], i8[::1], i8[::1], i8[::1],
        f8[::1], f8[:, :, ::1], f8[:, ::1], f8, f8, f8, f8, i8[::1], RECORD,
    )
)  # fmt: skip
def play(
    X, costs, sigma, samples, slots, held, represented,
    theta, history_X, history_costs, alpha, eta, radius, lr, answers, record,
):  # fmt: skip
    """Rounds of one seed; θ [m] and the history [capacity, d, p], [capacity, d] fill in place."""
    w, one, gradient = np.empty(costs.shape[1]), np.empty_like(theta), np.empty_like(theta)
    steps, batch = samples.shape[1:]
    share = 1.0 / batch
    for t in range(costs.shape[0]):
        decide(X, costs, t, theta, w, record)
        # 4: H_t = H_{t−1} ∪ {(X_t, c_t)}
        history_X[slots[t]] = X[t]
        history_costs[slots[t]] = costs[t]
        # 6: θ_{t+1} = O_ξ(Σ_{i≤t} f̃_i − ⟨σ_t, ·⟩), warm-started at θ_t
        for k in range(steps if answers[t] else 0):
            for j in range(theta.shape[0]):
                gradient[j] = -sigma[t, j] / (eta * represented[t])
            for b in range(batch):
                i = int(samples[t, k, b] * held[t])
                times(history_X[i], theta, w)
                entropy_vjp(w, 1.0 / alpha, history_costs[i])
                vjp(history_X[i], w, one)
                for j in range(theta.shape[0]):
                    gradient[j] += share * one[j]
            step(theta, lr, gradient, radius)


def prepare(
    algorithm: DFFTPL, state: DFFTPLState, rounds: Rounds, draws: Draws, trace: Trace
) -> tuple[DFFTPLState, Play]:
    """The state after the block, and the function that computes it and the trace for seed number s."""
    X, costs = rounds
    problem, oracle = algorithm.problem, cast(SGD, algorithm.problem.oracle)
    length = costs.shape[1]
    t = np.arange(state.t + 1, state.t + length + 1)
    slots, counts = oracle.slots(t, draws["df_ftpl/slot"]), (oracle.held(t), oracle.represented(t))
    constants = algorithm.alpha, algorithm.eta, problem.theta_set.radius, oracle.lr
    answers = np.array([oracle.answers(int(i)) for i in t], dtype=np.int64)
    for name in algorithm.noted:
        trace.notes[name][:] = getattr(state, name)[:, None]

    def play_seed(seed_state: DFFTPLState, s: int) -> None:
        seen = X[s], costs[s], draws["df_ftpl/sigma"][s], draws["df_ftpl/sample"][s]
        updated = seed_state.theta, state.X[s], state.costs[s]
        play(*seen, slots[s], *counts, *updated, *constants, answers, record_of(trace, s))

    return each_seed(state, length, ("theta",), play_seed)
