"""Parts of kernels that play one seed of the paper's problem: linear model, simplex, entropy."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import f8, i8, types

from odfl_cli.core.compiling import exact, inner, ordered
from odfl_cli.engine.base import Play, Trace

LOG2_E, LN_2 = 1.0 / math.log(2.0), (0.6931471803691238, 1.9082149292705877e-10)
TAYLOR = tuple(1.0 / math.factorial(n) for n in range(13))
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
        fields = {name: np.atleast_1d(values[s]).copy() for name, values in after.items()}
        play(state._replace(**fields), s)
        for name, values in after.items():
            values[s] = fields[name].reshape(values.shape[1:])

    return state._replace(t=state.t + rounds, **after), play_seed


@inner
def dot(a, b):
    """⟨a, b⟩."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@inner
def copy(a, out):
    """out = a; slices would first ask whether the two overlap."""
    for i in range(out.shape[0]):
        out[i] = a[i]


@inner
def times(A, x, out):
    """A x, written to `out`."""
    for i in range(A.shape[0]):
        total = 0.0
        for k in range(A.shape[1]):
            total += A[i, k] * x[k]
        out[i] = total
    return out


@ordered
def vjp(X, v, out):
    """Xᵀ v, written to `out`; four rows at a time, so that `out` is loaded and stored less often."""
    i = 1
    for j in range(X.shape[1]):
        out[j] = v[0] * X[0, j]
    while i + 3 < X.shape[0]:
        for j in range(X.shape[1]):
            two = (out[j] + v[i] * X[i, j]) + v[i + 1] * X[i + 1, j]
            out[j] = (two + v[i + 2] * X[i + 2, j]) + v[i + 3] * X[i + 3, j]
        i += 4
    while i < X.shape[0]:
        for j in range(X.shape[1]):
            out[j] += v[i] * X[i, j]
        i += 1
    return out


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


@ordered
def exp(x):
    """e^x = 2^n e^r for x ≤ 709, without branches, so that a loop of them is vectorised; 0 below −708.

    The Taylor series of e^r, |r| ≤ ln(2)/2, is off by at most 2e-16; summed in pairs (Estrin's scheme),
    because a processor computes independent terms at the same time.
    """
    n = np.rint(x * LOG2_E)
    r = (x - n * LN_2[0]) - n * LN_2[1]
    c, r2, r4 = TAYLOR, r * r, (r * r) * (r * r)
    low = (c[0] + c[1] * r) + (c[2] + c[3] * r) * r2
    middle = (c[4] + c[5] * r) + (c[6] + c[7] * r) * r2
    high = (c[8] + c[9] * r) + (c[10] + c[11] * r) * r2 + c[12] * r4
    series = low + (middle + high * r4) * r4
    power = np.int64(np.int64(np.int32(n) + 1023) << 52).view(np.float64)  # 2^n, by its bits
    return 0.0 if x < -708.0 else series * power


@inner
def entropy_vjp(w, sharpness, costs):
    """w = −(1/α) w̃ ∘ (c − f̃) in place of g, with w̃ = softmax(−g/α) and f̃ = ⟨c, w̃⟩; sharpness = 1/α.

    The softmax is shifted by its largest exponent and normalised last; the first item's cost is
    subtracted from all, so that equal costs give exactly zero.
    """
    lowest, total, value = w[0], 0.0, 0.0
    for i in range(1, w.shape[0]):
        lowest = min(lowest, w[i])
    for i in range(w.shape[0]):
        w[i] = exp((lowest - w[i]) * sharpness)
    for i in range(w.shape[0]):
        total += w[i]
        value += w[i] * (costs[i] - costs[0])
    scale = sharpness / (total * total)
    for i in range(w.shape[0]):
        w[i] *= (value - total * (costs[i] - costs[0])) * scale
