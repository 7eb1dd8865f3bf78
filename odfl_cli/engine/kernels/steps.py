"""What kernels share: prediction, decision and projected step of the paper's problem for one seed."""

from typing import NamedTuple

import numpy as np
from numba import f8, i8, types

from odfl_cli.core.compiling import exact, inner
from odfl_cli.engine.base import Trace
from odfl_cli.engine.kernels.exponential import exp
from odfl_cli.problem.regularizers.newton import copy, dot


class Played(NamedTuple):
    """What is recorded of every round that a seed plays, [B] each, and θ_t of the rounds asked for."""

    cost: np.ndarray
    mse: np.ndarray
    row: np.ndarray  # where θ_t is kept, −1 where it is not
    thetas: np.ndarray  # [A, m]


PLAYED = types.NamedTuple((f8[::1], f8[::1], i8[::1], f8[:, ::1]), Played)


def rows_of(trace: Trace, s: int) -> Played:
    """The rows of seed number s in the trace."""
    return Played(trace.cost[s], trace.mse[s], theta_rows(trace), trace.thetas[s])


def theta_rows(trace: Trace) -> np.ndarray:
    """Where θ_t of each round is kept, −1 where it is not, [B]."""
    row = np.full(trace.cost.shape[1], -1)
    row[trace.asked] = np.arange(len(trace.asked))
    return row


@exact
def cheapest(costs):
    """The item of least cost; the first of equals."""
    best = 0
    for i in range(1, costs.shape[0]):
        if costs[i] < costs[best]:
            best = i
    return best


@inner
def predict(X, theta, g):
    """g = Xθ."""
    for i in range(X.shape[0]):
        total = 0.0
        for j in range(X.shape[1]):
            total += X[i, j] * theta[j]
        g[i] = total


@inner
def vjp(X, v, out):
    """out = Xᵀ v; four items at a time, so that `out` is read and written a quarter as often."""
    fours = X.shape[0] // 4 * 4
    out[:] = 0.0
    for i in range(0, fours, 4):
        v0, v1, v2, v3 = v[i], v[i + 1], v[i + 2], v[i + 3]
        for j in range(X.shape[1]):
            out[j] += v0 * X[i, j] + v1 * X[i + 1, j] + v2 * X[i + 2, j] + v3 * X[i + 3, j]
    for i in range(fours, X.shape[0]):
        for j in range(X.shape[1]):
            out[j] += v[i] * X[i, j]


@inner
def decide(X, costs, t, theta, prediction, played):
    """Predicts into `prediction`, and records what the best predicted item costs in round t."""
    predict(X[t], theta, prediction)
    error = 0.0
    for i in range(prediction.shape[0]):
        error += (prediction[i] - costs[t, i]) ** 2
    played.cost[t], played.mse[t] = costs[t, cheapest(prediction)], error / costs.shape[1]
    if played.row[t] >= 0:
        copy(theta, played.thetas[played.row[t]])


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


@inner
def softmax(g, alpha, w):
    """w = exp(−g/α), normalised; shifted by the largest exponent against overflow."""
    lowest, total = g[cheapest(g)], 0.0
    for i in range(w.shape[0]):
        w[i] = exp((lowest - g[i]) / alpha)
        total += w[i]
    for i in range(w.shape[0]):
        w[i] /= total
