"""What all kernels share: the decision, the projected step, and the type of a problem's parts."""

from typing import NamedTuple

import numpy as np

from odfl_cli.core.compiling import allocating, exact, inner
from odfl_cli.core.signatures import f8, i8, record
from odfl_cli.engine.base import KAPPA_GAP, Trace
from odfl_cli.engine.kernels.exponential import exp
from odfl_cli.engine.kernels.polytopes import least, minimise
from odfl_cli.engine.kernels.predictors import predict
from odfl_cli.engine.parts import Parts
from odfl_cli.problem.regularizers.newton import copy, dot

LINE = 16
"""Doubles that the processor fetches at once: two cache lines."""


class Played(NamedTuple):
    """What is recorded of every round that a seed plays, [B] each, and θ_t of some rounds."""

    cost: np.ndarray
    mse: np.ndarray
    gap: np.ndarray  # filled where κ > 0
    row: np.ndarray  # where θ_t is kept, −1 where it is not
    thetas: np.ndarray  # [A, m]


PARTS = record(Parts, i8, i8, f8[::1], i8, i8[::1], f8[::1], f8)
PLAYED = record(Played, *[f8[::1]] * 3, i8[::1], f8[:, ::1])


def played_by(s: int, trace: Trace) -> Played:
    """The rows of seed number s in the trace."""
    gap = trace.notes.get(KAPPA_GAP, trace.cost)
    return Played(trace.cost[s], trace.mse[s], gap[s], row_of(trace), trace.thetas[s])


def row_of(trace: Trace) -> np.ndarray:
    """Where θ_t of each round is kept, −1 where it is not, [B]."""
    row = np.full(trace.cost.shape[1], -1)
    row[trace.asked] = np.arange(len(trace.asked))
    return row


def apart(values: np.ndarray) -> np.ndarray:
    """A copy in which no two rows (seeds) share a cache line: their threads would wait for it."""
    width = values[0].size if len(values) else 0
    rows = np.zeros((len(values), (width // LINE + 2) * LINE))[:, :width].reshape(values.shape)
    rows[:] = values
    return rows


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
def distance(a, b):
    """‖a − b‖."""
    total = 0.0
    for j in range(a.shape[0]):
        total += (a[j] - b[j]) ** 2
    return np.sqrt(total)


@inner
def squared_error(prediction, costs):
    """The mean over items of (ĉ − c)²."""
    total = 0.0
    for i in range(costs.shape[0]):
        total += (prediction[i] - costs[i]) ** 2
    return total / costs.shape[0]


@inner
def decide(parts, X, costs, t, theta, prediction, w, played):
    """Predicts and decides into `prediction` and `w`, and records what that costs in round t.

    X [B, d, p] and costs [B, d] hold all rounds of the block, because a kernel that passed X[t]
    would count references to it in every round, and this function does not.
    """
    predict(parts.predictor, X[t], theta, prediction)
    minimise(parts.polytope, parts.numbers, prediction, w)
    if parts.kappa > 0.0:
        played.gap[t] = miss(parts, prediction, w)
    played.cost[t], played.mse[t] = dot(costs[t], w), squared_error(prediction, costs[t])
    if played.row[t] >= 0:
        copy(theta, played.thetas[played.row[t]])


@allocating
def miss(parts, prediction, w):
    """Moves w from the best towards the worst vertex as far as κ allows; returns ⟨ĉ, w − w*⟩."""
    reversed_costs, away = np.empty_like(w), np.empty_like(w)
    for i in range(w.shape[0]):
        reversed_costs[i] = -prediction[i]
    minimise(parts.polytope, parts.numbers, reversed_costs, away)
    for i in range(w.shape[0]):
        away[i] -= w[i]
    width = dot(prediction, away)
    share = parts.kappa / (parts.kappa if width < parts.kappa else width)
    for i in range(w.shape[0]):
        w[i] += share * away[i]
    return share * width


@exact
def sampled(weights, uniform):
    """The k with p_0 + … + p_{k−1} ≤ u < p_0 + … + p_k, for weights p that are normalised here."""
    total = 0.0
    for k in range(weights.shape[0]):
        total += weights[k]
    below = 0.0
    for k in range(weights.shape[0] - 1):
        below += weights[k]
        if uniform * total < below:
            return k
    return weights.shape[0] - 1


@inner
def exponential_weights(losses, eta, weights):
    """p_k ← p_k exp(−η L_k), normalised; shifted by the least loss against underflow."""
    lowest, total = least(losses), 0.0
    for k in range(weights.shape[0]):
        weights[k] *= exp(eta * (lowest - losses[k]))
        total += weights[k]
    for k in range(weights.shape[0]):
        weights[k] /= total
