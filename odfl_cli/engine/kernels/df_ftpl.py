"""DF-FTPL, compiled; see odfl_cli.algorithms.df_ftpl."""

from typing import cast

import numpy as np
from numba import f8, i8, void

from odfl_cli.algorithms import DFFTPL
from odfl_cli.algorithms.df_ftpl import DFFTPLState
from odfl_cli.core.compiling import inner, kernel
from odfl_cli.engine.base import Play, Trace
from odfl_cli.engine.kernels.exponential import exp
from odfl_cli.engine.kernels.steps import PLAYED, cheapest, decide, predict, rows_of, step, vjp
from odfl_cli.environments import Rounds
from odfl_cli.problem.oracles import SGD


@inner
def entropy_vjp(w, alpha, costs):
    """w = −(1/α) w̃ ∘ (c − f̃) in place of g, with w̃ = softmax(−g/α) and f̃ = ⟨c, w̃⟩.

    The softmax is shifted by its largest exponent and normalised last; the first item's cost is
    subtracted from all, so that equal costs give exactly zero.
    """
    lowest, sharpness, first = w[cheapest(w)], 1.0 / alpha, costs[0]
    for i in range(w.shape[0]):
        w[i] = exp((lowest - w[i]) * sharpness)
    total, value = 0.0, 0.0
    for i in range(w.shape[0]):
        total += w[i]
        value += w[i] * (costs[i] - first)
    value /= total
    scale = sharpness / total
    for i in range(w.shape[0]):
        w[i] *= (value - (costs[i] - first)) * scale


@kernel(
    void(
        f8[:, :, ::1], f8[:, ::1], f8[:, ::1], f8[:, :, ::1], i8[::1], i8[::1], i8[::1],
        f8[::1], f8[:, :, ::1], f8[:, ::1], f8, f8, f8, f8, i8[::1], PLAYED,
    )
)  # fmt: skip
def play(
    X, costs, sigma, samples, slots, held, represented,
    theta, history_X, history_costs, alpha, eta, radius, lr, answers, played,
):  # fmt: skip
    """Rounds of one seed; θ [m] and the history [capacity, d, p], [capacity, d] fill in place."""
    w, one, gradient = np.empty(costs.shape[1]), np.empty_like(theta), np.empty_like(theta)
    steps, batch = samples.shape[1:]
    share = 1.0 / batch
    for t in range(costs.shape[0]):
        decide(X, costs, t, theta, w, played)
        # 4: H_t = H_{t−1} ∪ {(X_t, c_t)}
        history_X[slots[t]] = X[t]
        history_costs[slots[t]] = costs[t]
        # 6: θ_{t+1} = O_ξ(Σ_{i≤t} f̃_i − ⟨σ_t, ·⟩), warm-started at θ_t
        for k in range(steps if answers[t] else 0):
            for j in range(theta.shape[0]):
                gradient[j] = -sigma[t, j] / (eta * represented[t])
            for b in range(batch):
                i = int(samples[t, k, b] * held[t])
                predict(history_X[i], theta, w)
                entropy_vjp(w, alpha, history_costs[i])
                vjp(history_X[i], w, one)
                for j in range(theta.shape[0]):
                    gradient[j] += share * one[j]
            step(theta, lr, gradient, radius)


def prepare(
    algorithm: DFFTPL,
    state: DFFTPLState,
    rounds: Rounds,
    draws: dict[str, np.ndarray],
    trace: Trace,
) -> tuple[DFFTPLState, Play]:
    """The state after the block, and the function that fills it and the trace for seed number s."""
    problem, oracle = algorithm.problem, cast(SGD, algorithm.problem.oracle)
    stop = state.t + rounds.costs.shape[1]
    t = np.arange(state.t + 1, stop + 1)
    memory = oracle.memory
    slots = memory.slots(t, draws["df_ftpl/slot"])
    theta, counts = state.theta.copy(), (memory.held(t), memory.represented(t))
    constants = algorithm.alpha, algorithm.eta, problem.theta_set.radius, oracle.lr
    answers = np.array([oracle.answers(int(i)) for i in t], dtype=np.int64)
    for name in algorithm.noted:
        trace.notes[name][:] = getattr(state, name)[:, None]

    def play_seed(s: int) -> None:
        seen = rounds.X[s], rounds.costs[s], draws["df_ftpl/sigma"][s], draws["df_ftpl/sample"][s]
        learnt = theta[s].copy(), state.X[s], state.costs[s]
        play(*seen, slots[s], *counts, *learnt, *constants, answers, rows_of(trace, s))
        theta[s] = learnt[0]

    return state._replace(t=stop, theta=theta), play_seed
