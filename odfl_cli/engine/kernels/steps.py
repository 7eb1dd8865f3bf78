"""Parts of kernels that play one seed: prediction, decision and projected step of the paper's problem."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import f8, i8, types

from odfl_cli.core.compiling import exact, inner
from odfl_cli.engine.base import Play, Trace
from odfl_cli.engine.kernels.matrices import dot, times

VECTOR, MATRIX, CUBE = f8[::1], f8[:, ::1], f8[:, :, ::1]


class Record(NamedTuple):
    """The trace of one seed, [B] each."""

    cost: np.ndarray
    mse: np.ndarray
    item: np.ndarray  # that is played


RECORD = types.NamedTuple((VECTOR, VECTOR, i8[::1]), Record)


def record_of(trace: Trace, s: int) -> Record:
    """The record of seed number s, views of the trace."""
    return Record(trace.cost[s], trace.mse[s], trace.decision[s])


def each_seed(
    state: Any, rounds: int, names: tuple[str, ...], play: Callable[[Any, int], None]
) -> tuple[Any, Play]:
    """The state after a block of rounds, and the function that computes it for seed number s.

    `play` takes the state of one seed and its number, and updates the fields `names` in place: arrays
    without their first axis, numbers as arrays of length 1.
    """
    after = {name: getattr(state, name).copy() for name in names}

    def play_seed(s: int) -> None:
        # copies, because threads that write to one cache line slow each other down
        own = {name: np.atleast_1d(values[s]).copy() for name, values in after.items()}
        play(state._replace(**own), s)
        for name, values in after.items():
            values[s] = own[name].reshape(values.shape[1:])

    return state._replace(t=state.t + rounds, **after), play_seed


@exact
def cheapest(costs):
    """The item of least cost; the first of equals."""
    best = 0
    for i in range(1, costs.shape[0]):
        if costs[i] < costs[best]:
            best = i
    return best


@inner
def decide(X, costs, t, theta, prediction, record):
    """Predicts into `prediction`, and records what the best predicted item costs in round t."""
    times(X[t], theta, prediction)
    error = 0.0
    for i in range(prediction.shape[0]):
        error += (prediction[i] - costs[t, i]) ** 2
    item = cheapest(prediction)
    record.item[t], record.cost[t], record.mse[t] = item, costs[t, item], error / costs.shape[1]


@inner
def project(theta, radius):
    """θ = Π_Θ(θ) in place."""
    square = dot(theta, theta)
    if square > radius * radius:
        scale = radius / np.sqrt(square) if square < np.inf else np.nan
        for j in range(theta.shape[0]):
            theta[j] *= scale


@inner
def step(theta, rate, gradient, radius):
    """θ = Π_Θ(θ − rate·gradient) in place."""
    for j in range(theta.shape[0]):
        theta[j] -= rate * gradient[j]
    project(theta, radius)
