"""(A,B)-Prod, compiled; see odfl_cli.algorithms.guard."""

import numpy as np

from odfl_cli.algorithms.guard import TINY, Guard, GuardState
from odfl_cli.core.compiling import kernel
from odfl_cli.core.errors import RoundError
from odfl_cli.core.signatures import f8, i8
from odfl_cli.engine.base import Play, Trace
from odfl_cli.engine.kernels.mixture import Experts
from odfl_cli.environments import Rounds


@kernel(i8(f8, f8, f8[:, ::1], f8[::1], f8[::1], f8[::1]))
def weigh(eta, known, paid, log_weights, reach, cost):
    """What the mixture pays in rounds of one seed, from what its learners pay [B, 1 + N].

    `known` is the range, infinite where it is not known. Returns the number of rounds weighed: fewer
    than given where two costs differ by more than the range.
    """
    for t in range(paid.shape[0]):
        top, total, mixed = log_weights[0], 0.0, 0.0
        for k in range(1, log_weights.shape[0]):
            top = max(top, log_weights[k])
        for k in range(paid.shape[1]):
            share = np.exp(log_weights[k] - top)
            total += share
            mixed += share * paid[t, k]
            reach[0] = max(reach[0], abs(paid[t, 0] - paid[t, k]))
        cost[t] = mixed / total
        if reach[0] > known:
            return t
        scale = known if known < np.inf else max(reach[0], TINY)
        for k in range(paid.shape[1]):
            log_weights[k] += np.log1p(eta * (paid[t, 0] - paid[t, k]) / scale)
    return paid.shape[0]


def prepare(
    algorithm: Guard, state: GuardState, rounds: Rounds, draws: dict[str, np.ndarray], trace: Trace
) -> tuple[GuardState, Play]:
    """The state after the block, and the function that fills it and the trace for seed number s."""
    experts = Experts(algorithm, state, rounds, draws, trace)
    weights, reach = state.log_weights.copy(), state.reach.copy()
    length = rounds.costs.shape[1]
    known = np.inf if algorithm.range is None else algorithm.range

    def play_seed(s: int) -> None:
        paid, own = experts.paid(s), reach[s : s + 1]
        done = weigh(algorithm.eta, known, paid, weights[s], own, trace.cost[s])
        if done < length:
            raise RoundError(done, s, algorithm.too_far(float(own[0])))
        experts.report(s, np.zeros(length, dtype=int))

    theta, t = experts.states[0].theta, state.t + length
    return GuardState(t, theta, weights, reach, experts.states), play_seed
