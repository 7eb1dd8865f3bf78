"""DF-FTPL, compiled; see odfl_cli.algorithms.df_ftpl."""

from typing import cast

import numpy as np

from odfl_cli.algorithms import DFFTPL
from odfl_cli.algorithms.df_ftpl import DFFTPLState
from odfl_cli.core.compiling import kernel
from odfl_cli.core.signatures import f8, i8
from odfl_cli.engine.base import Play, Trace
from odfl_cli.engine.kernels.inner import PARTS, PLAYED, apart, decide, played_by, step
from odfl_cli.engine.kernels.smoothing import ALPHA, STEPS, NewtonReports, add_smoothed_gradients
from odfl_cli.engine.parts import parts_of
from odfl_cli.environments import Rounds
from odfl_cli.problem.oracles import SGD


@kernel(
    i8(
        PARTS, f8[:, :, ::1], f8[:, ::1], f8[:, ::1], f8[:, :, ::1], i8[::1], i8[::1], i8[::1],
        f8[::1], f8[:, :, ::1], f8[:, ::1], f8, f8, f8, f8, i8[::1],
        PLAYED, f8[::1], f8[::1],
    )
)  # fmt: skip
def play(
    parts, X, costs, sigma, samples, slots, held, represented,
    theta, history_X, history_costs, alpha, eta, radius, lr, answers,
    played, newton_steps, newton,
):  # fmt: skip
    """Rounds of one seed; θ [m] and the history [capacity, d, p], [capacity, d] fill in place.

    Returns the number of rounds played: fewer than given where Newton's method fails.
    """
    prediction, w = np.empty(costs.shape[1]), np.empty(costs.shape[1])
    one, gradient = np.empty_like(theta), np.empty_like(theta)
    steps, batch = samples.shape[1:]
    chosen = np.empty(batch, np.int64)
    for t in range(costs.shape[0]):
        newton[STEPS] = 0.0
        decide(parts, X, costs, t, theta, prediction, w, played)
        # 4: H_t = H_{t−1} ∪ {(X_t, c_t)}
        history_X[slots[t]] = X[t]
        history_costs[slots[t]] = costs[t]
        # 6: θ_{t+1} = O_ξ(Σ_{i≤t} f̃_i − ⟨σ_t, ·⟩), warm-started at θ_t
        for k in range(steps if answers[t] else 0):
            for j in range(theta.shape[0]):
                gradient[j] = -sigma[t, j] / (eta * represented[t])
            for b in range(batch):
                chosen[b] = int(samples[t, k, b] * held[t])
            add_smoothed_gradients(
                parts, history_X, history_costs, chosen, theta, alpha, 1.0 / batch,
                w, newton, one, gradient,
            )  # fmt: skip
            step(theta, lr, gradient, radius)
        newton_steps[t] = newton[STEPS]
        if newton[ALPHA] > 0.0:
            return t
    return costs.shape[0]


def prepare(
    algorithm: DFFTPL,
    state: DFFTPLState,
    rounds: Rounds,
    draws: dict[str, np.ndarray],
    trace: Trace,
) -> tuple[DFFTPLState, Play]:
    """The state after the block, and the function that fills it and the trace for seed number s."""
    problem, oracle = algorithm.problem, cast(SGD, algorithm.problem.oracle)
    parts, reports = parts_of(problem), NewtonReports(trace)
    stop = state.t + rounds.costs.shape[1]
    t = np.arange(state.t + 1, stop + 1)
    memory = oracle.memory
    slots = memory.slots(t, draws["df_ftpl/slot"])
    theta, counts = apart(state.theta), (memory.held(t), memory.represented(t))
    constants = algorithm.alpha, algorithm.eta, problem.theta_set.radius, oracle.lr
    answers = np.array([oracle.answers(int(i)) for i in t], dtype=np.int64)
    for name in algorithm.noted:
        trace.notes[name][:] = getattr(state, name)[:, None]

    def play_seed(s: int) -> None:
        seen = rounds.X[s], rounds.costs[s], draws["df_ftpl/sigma"][s], draws["df_ftpl/sample"][s]
        learnt = theta[s], state.X[s], state.costs[s]
        left = played_by(s, trace), *reports.of(s)
        played = play(parts, *seen, slots[s], *counts, *learnt, *constants, answers, *left)
        reports.check(s, played)

    return state._replace(t=stop, theta=theta), play_seed
