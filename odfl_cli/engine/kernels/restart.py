"""Copies that restart: the base's own kernel between restarts, and the weights of the copies, compiled."""

from itertools import pairwise
from typing import Any

import numpy as np

from odfl_cli.algorithms import Restart
from odfl_cli.algorithms.restart import RestartState
from odfl_cli.core.arrays import map_arrays
from odfl_cli.core.compiling import kernel
from odfl_cli.core.errors import RoundError
from odfl_cli.core.signatures import f8, i8
from odfl_cli.engine.base import NEWTON_STEPS, Play, Trace
from odfl_cli.engine.compiled_engine import attempt, kernel_module
from odfl_cli.engine.kernels.inner import exponential_weights, sampled
from odfl_cli.environments import Rounds


@kernel(i8(f8, f8, f8[:, ::1], f8[:, ::1], f8[::1], i8, f8[::1], f8[::1], f8[::1]))
def follow(eta, share, losses, squares, uniform, played, weights, paid, errors):
    """Plays copy `played`, then those sampled by the weights [N], updated in place.

    `losses` and `squares` [B, N] are what the copies pay and their squared errors. Returns the copy
    that is sampled after the last round.
    """
    for t in range(losses.shape[0]):
        paid[t], errors[t] = losses[t, played], squares[t, played]
        exponential_weights(losses[t], eta, weights)
        for k in range(weights.shape[0]):
            weights[k] = (1.0 - share) * weights[k] + share / weights.shape[0]
        played = sampled(weights, uniform[t])
    return played


def prepare(
    algorithm: Restart,
    state: RestartState,
    rounds: Rounds,
    draws: dict[str, np.ndarray],
    trace: Trace,
) -> tuple[RestartState, Play]:
    """The state after the block, and the function that fills it and the trace for seed number s."""
    stop = state.t + rounds.costs.shape[1]
    cuts = sorted({state.t, stop, *algorithm.restarts(state.t + 1, stop)})
    theta, weights = state.theta.copy(), state.weights.copy()
    copies = tuple(
        map_arrays(copy, np.ndarray, np.copy)._replace(t=algorithm.age(k, stop))
        for k, copy in enumerate(state.states)
    )

    def play_seed(s: int) -> None:
        now = [seed_of(copy, s) for copy in state.states]
        played = int(np.argmax([(copy.theta[0] == theta[s]).all() for copy in now]))
        for first, last in pairwise(cuts):
            part = slice(first - state.t, last - state.t)
            now, paid, squares = learnt(algorithm, now, rounds, draws, trace, s, part)
            chosen = draws["restart/choice"][s, part]
            left = weights[s], trace.cost[s, part], trace.mse[s, part]
            settings = algorithm.eta, algorithm.share
            played = follow(*settings, paid, squares, chosen, played, *left)
            theta[s] = now[played].theta[0]
            for k in algorithm.restarting(last):
                now[k] = algorithm.restarted(theta[s : s + 1].copy())
        for copy, values in zip(copies, now, strict=True):
            for name in copy._fields[1:]:
                getattr(copy, name)[s] = getattr(values, name)[0]

    return RestartState(stop, theta, weights, copies), play_seed


def learnt(
    algorithm: Restart,
    copies: list[Any],
    rounds: Rounds,
    draws: dict[str, np.ndarray],
    trace: Trace,
    s: int,
    part: slice,
) -> tuple[list[Any], np.ndarray, np.ndarray]:
    """The copies of seed number s after a part of the rounds, and what they paid and missed, [B, N]."""
    one, seed = algorithm.learner, slice(s, s + 1)
    seen = Rounds(rounds.X[seed, part], rounds.costs[seed, part])
    drawn = {
        name.removeprefix("restart/"): values[seed, part]
        for name, values in draws.items()
        if name != "restart/choice"
    }
    after, traces, failures = [], [], []
    for copy in copies:
        traces.append(Trace.blank(one, 1, part.stop - part.start))
        learned, play = kernel_module(one).prepare(one, copy, seen, drawn, traces[-1])
        after.append(learned)
        failures.append(attempt(play)(0))
    if failed := [failure for failure in failures if failure]:
        first = min(failed, key=lambda failure: failure.round_index)
        raise RoundError(part.start + first.round_index, s, str(first))
    if NEWTON_STEPS in trace.notes:
        trace.notes[NEWTON_STEPS][s, part] = sum(own.notes[NEWTON_STEPS][0] for own in traces)
    paid = np.stack([own.cost[0] for own in traces], axis=-1)
    squares = np.stack([own.mse[0] for own in traces], axis=-1)
    return after, paid, squares


def seed_of(state: Any, s: int) -> Any:
    """The state of seed number s alone, [1, …] each."""
    return map_arrays(state, np.ndarray, lambda values: values[s : s + 1].copy())
