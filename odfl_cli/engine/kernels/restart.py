"""Copies that restart: the base's own kernel between restarts, and the weights of the copies, compiled."""

import math
from itertools import pairwise
from typing import Any

import numpy as np

from odfl_cli.algorithms import Restart
from odfl_cli.algorithms.restart import RestartState
from odfl_cli.core.arrays import map_arrays
from odfl_cli.core.compiling import kernel
from odfl_cli.core.cores import allotted_threads
from odfl_cli.core.errors import RoundError
from odfl_cli.core.signatures import f8, i8
from odfl_cli.engine.base import Play, Trace
from odfl_cli.engine.compiled_engine import seeds_of
from odfl_cli.engine.kernels.inner import exponential_weights, sampled
from odfl_cli.engine.kernels.mixture import Learner, side_by_side
from odfl_cli.environments import Rounds


@kernel(i8(f8, f8, f8[:, ::1], f8[:, ::1], f8[::1], i8, f8[::1], f8[::1], f8[::1], i8[::1]))
def follow(eta, share, losses, squares, uniform, played, weights, paid, errors, chosen):
    """Plays copy `played`, then those sampled by the weights [N], updated in place.

    `losses` and `squares` [B, N] are what the copies pay and their squared errors; `chosen` [B] becomes
    the copy that is played in every round. Returns the one that is sampled after the last.
    """
    for t in range(losses.shape[0]):
        chosen[t], paid[t], errors[t] = played, losses[t, played], squares[t, played]
        exponential_weights(losses[t], eta, weights)
        for k in range(weights.shape[0]):
            weights[k] = (1.0 - share) * weights[k] + share / weights.shape[0]
        played = sampled(weights, uniform[t])
    return played


def seeds_at_once(algorithm: Restart, seeds: int) -> int:
    """A thread's share: all seeds restart in the same rounds, and a copy is prepared for many as fast as for one."""
    share, step = seeds / allotted_threads(), seeds_of(algorithm.learner, seeds)
    return step * math.ceil(share / step)


def prepare(
    algorithm: Restart,
    state: RestartState,
    rounds: Rounds,
    draws: dict[str, np.ndarray],
    trace: Trace,
) -> tuple[RestartState, Play]:
    """The state after the block, and the function that fills it and the trace for group number g of seeds."""
    stop, size = state.t + rounds.costs.shape[1], seeds_at_once(algorithm, len(rounds.costs))
    cuts = sorted({state.t, stop, *algorithm.restarts(state.t + 1, stop)})
    theta, weights = state.theta.copy(), state.weights.copy()
    played = np.argmax([(copy.theta == theta).all(-1) for copy in state.states], axis=0)
    copies = tuple(
        map_arrays(copy, np.ndarray, np.copy)._replace(t=algorithm.age(k, stop))
        for k, copy in enumerate(state.states)
    )

    def play_group(g: int) -> None:
        group = slice(g * size, (g + 1) * size)
        now = [map_arrays(copy, np.ndarray, lambda values: values[group]) for copy in state.states]
        for first, last in pairwise(cuts):
            part = group, slice(first - state.t, last - state.t)
            seen = Rounds(*(np.ascontiguousarray(values[part]) for values in rounds))
            drawn = {name: values[part] for name, values in draws.items()}
            own = trace.part(*part)
            try:
                now, traces = learnt(algorithm, now, seen, drawn, own)
            except RoundError as failure:
                place = part[1].start + failure.round_index, group.start + failure.seed_index
                raise RoundError(*place, str(failure)) from failure
            choose(algorithm, traces, drawn["restart/choice"], weights[group], played[group], own)
            thetas = np.stack([copy.theta for copy in now], axis=1)
            theta[group] = thetas[np.arange(len(thetas)), played[group]]
            for k in algorithm.restarting(last):
                now[k] = algorithm.restarted(theta[group].copy())
        for copy, values in zip(copies, now, strict=True):
            for name in copy._fields[1:]:
                getattr(copy, name)[group] = getattr(values, name)

    return RestartState(stop, theta, weights, copies), play_group


def learnt(
    algorithm: Restart,
    copies: list[Any],
    rounds: Rounds,
    draws: dict[str, np.ndarray],
    trace: Trace,
) -> tuple[list[Any], tuple[Trace, ...]]:
    """The copies after these rounds, and their traces."""
    inner = {name.removeprefix("restart/"): values for name, values in draws.items()}
    learners = [Learner(algorithm.learner, copy, inner) for copy in copies]
    after, traces = side_by_side(learners, rounds, trace, trace.asked)
    return list(after), traces


def choose(
    algorithm: Restart,
    traces: tuple[Trace, ...],
    uniform: np.ndarray,
    weights: np.ndarray,
    played: np.ndarray,
    trace: Trace,
) -> None:
    """Fills the trace of some seeds from those of their copies; updates weights [S, N] and the copies played [S]."""
    paid = np.stack([own.cost for own in traces], axis=-1)
    squares = np.stack([own.mse for own in traces], axis=-1)
    chosen = np.empty(trace.cost.shape, dtype=np.int64)
    for s in range(len(played)):
        left = weights[s], trace.cost[s], trace.mse[s], chosen[s]
        seen = paid[s], squares[s], uniform[s], played[s]
        played[s] = follow(algorithm.eta, algorithm.share, *seen, *left)
    for a, place in enumerate(trace.asked):
        for s, k in enumerate(chosen[:, place]):
            trace.thetas[s, a] = traces[k].thetas[s, a]
