"""Smoothed decisions and the gradient of the smoothed cost, compiled, for every regulariser."""

import numpy as np

from odfl_cli.core.compiling import allocating, inner
from odfl_cli.core.errors import RoundError
from odfl_cli.core.lanes import LANES, gather_rows, scatter_rows, store
from odfl_cli.engine.base import NEWTON_STEPS, Trace
from odfl_cli.engine.kernels.exponential import exp
from odfl_cli.engine.kernels.inner import apart
from odfl_cli.engine.kernels.polytopes import least
from odfl_cli.engine.kernels.predictors import predict, vjp
from odfl_cli.engine.parts import ENTROPY, LOG_BARRIER
from odfl_cli.problem.regularizers import newton, sum_projection
from odfl_cli.problem.regularizers.log_barrier import GOOD_ENOUGH, failure
from odfl_cli.problem.regularizers.newton import copy

STEPS, RESIDUAL, ALPHA = range(3)
"""A report on Newton's method: steps so far; residual and α where it first failed, else zeros."""


class NewtonReports:
    """Arrays that the kernels of a block fill: Newton steps per round, and a report per seed."""

    def __init__(self, trace: Trace) -> None:
        self._steps = trace.notes.get(NEWTON_STEPS, np.empty_like(trace.cost))
        self._reports = apart(np.zeros((len(trace.cost), 3)))

    def of(self, s: int) -> tuple[np.ndarray, np.ndarray]:
        """Steps of every round [B] and the report [3] of seed number s."""
        return self._steps[s], self._reports[s]

    def check(self, s: int, played: int) -> None:
        """Raises a RoundError if Newton's method failed for seed number s after so many rounds."""
        report = self._reports[s]
        if report[ALPHA] > 0:
            raise RoundError(played, s, failure(report[RESIDUAL], report[ALPHA]))


@inner
def smoothed_decision(parts, g, alpha, w, newton):
    """w = w̃_α(g); `newton` is a report to update."""
    if parts.regularizer == ENTROPY:
        softmax(g, alpha, w)
    elif parts.regularizer == LOG_BARRIER:
        barrier_decision(parts.ints, parts.floats, g, alpha, w, newton)
    else:
        projected_decision(parts.ints, parts.floats, g, alpha, w)


@inner
def softmax(g, alpha, w):
    """w = exp(−g/α), normalised; shifted by the largest exponent against overflow."""
    lowest, total = least(g), 0.0
    for i in range(w.shape[0]):
        w[i] = exp((lowest - g[i]) / alpha)
        total += w[i]
    for i in range(w.shape[0]):
        w[i] /= total


@allocating
def barrier_decision(ints, floats, g, alpha, w, report):
    """w = w̃_α(g) for a packed barrier."""
    barrier = newton.unpacked(ints, floats)
    steps, residual = newton.smooth(barrier, newton.workspace(barrier, ()), g, alpha, w)
    add_to_report(report, barrier.tolerance, steps, residual, alpha)


@inner
def add_to_report(report, tolerance, steps, residual, alpha):
    """Counts the steps, and keeps the first residual that is too large."""
    report[STEPS] += steps
    if report[ALPHA] == 0.0 and not residual <= max(tolerance, GOOD_ENOUGH):
        report[RESIDUAL], report[ALPHA] = residual, alpha


@inner
def smoothed_gradient(parts, X, costs, t, theta, alpha, w, newton, out):
    """out = ∇f̃(θ) = (∇_θ g)ᵀ (∂w̃/∂g)ᵀ c for X_t and c_t; w is scratch, `newton` a report to update."""
    predict(parts.predictor, X[t], theta, w)
    if parts.regularizer == LOG_BARRIER:
        barrier_vjp(parts.ints, parts.floats, w, alpha, costs[t], newton)
    else:
        direct_vjp(parts, w, alpha, costs[t])
    vjp(parts.predictor, X[t], w, out)


@inner
def direct_vjp(parts, w, alpha, costs):
    """w = (∂w̃/∂g)ᵀ c in place of g, of a regulariser without Newton steps."""
    if parts.regularizer == ENTROPY:
        entropy_vjp(w, alpha, costs)
    else:
        projected_vjp(parts.ints, parts.floats, w, alpha, costs)


@inner
def add_smoothed_gradients(parts, X, costs, chosen, theta, alpha, share, w, newton, one, out):
    """out += share·∇f̃(θ) for the rounds `chosen` of X and costs; w and one are scratch."""
    if parts.regularizer == LOG_BARRIER:
        add_barrier_gradients(parts, X, costs, chosen, theta, alpha, share, newton, one, out)
        return
    for i in chosen:
        predict(parts.predictor, X[i], theta, w)
        direct_vjp(parts, w, alpha, costs[i])
        vjp(parts.predictor, X[i], w, one)
        for j in range(out.shape[0]):
            out[j] += share * one[j]


@allocating
def add_barrier_gradients(parts, X, costs, chosen, theta, alpha, share, newton, one, out):
    """The same for the log barrier, four rounds at once."""
    batch, d = chosen.shape[0], costs.shape[1]
    pulls, seen = np.empty((batch, d)), np.empty((batch, d))
    some, some_costs = np.empty((d, LANES)), np.empty((d, LANES))
    for b in range(batch):
        predict(parts.predictor, X[chosen[b]], theta, pulls[b])
        copy(costs[chosen[b]], seen[b])
    for first in range(0, batch, LANES):
        gather_rows(pulls, first, some)
        gather_rows(seen, first, some_costs)
        count = min(LANES, batch - first)
        barrier_vjps(parts.ints, parts.floats, some, alpha, some_costs, newton, count)
        scatter_rows(some, first, pulls)
    for b in range(batch):
        vjp(parts.predictor, X[chosen[b]], pulls[b], one)
        for j in range(out.shape[0]):
            out[j] += share * one[j]


@inner
def entropy_vjp(w, alpha, costs):
    """w = −(1/α) w̃ ∘ (c − f̃) in place of g, with w̃ = softmax(−g/α) and f̃ = ⟨c, w̃⟩.

    The softmax is shifted by its largest exponent and normalised last; the first item's cost is
    subtracted from all, so that equal costs give exactly zero.
    """
    lowest, sharpness, first = least(w), 1.0 / alpha, costs[0]
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


@allocating
def barrier_vjp(ints, floats, w, alpha, costs, report):
    """w = −(1/α) H⁻¹ c in place of g, H the barrier's Hessian at w̃_α(g)."""
    barrier = newton.unpacked(ints, floats)
    work = newton.workspace(barrier, ())
    steps, residual = newton.smooth(barrier, work, w, alpha, work.w)
    add_to_report(report, barrier.tolerance, steps, residual, alpha)
    newton.vjp(barrier, work, work.w, alpha, costs, w)


@allocating
def barrier_vjps(ints, floats, w, alpha, costs, report, count):
    """The same for w and costs [d] of registers; the first `count` lanes are reported."""
    barrier = newton.unpacked(ints, floats)
    work = newton.workspace(barrier, (LANES,))
    told = np.empty((2, LANES))
    steps, residual = newton.smooth(barrier, work, w, alpha, work.w)
    store(told, (0,), steps)
    store(told, (1,), residual)
    for lane in range(count):
        add_to_report(report, barrier.tolerance, told[0, lane], told[1, lane], alpha)
    newton.vjp(barrier, work, work.w, alpha, costs, w)


@allocating
def projected_decision(ints, floats, g, alpha, w):
    """w = w̃_α(g) for a packed weighted sum."""
    polytope = sum_projection.unpacked(ints, floats)
    sum_projection.project(polytope, g, alpha, np.empty_like(g), w)


@allocating
def projected_vjp(ints, floats, w, alpha, costs):
    """w = −(1/α) P c in place of g, P the projector onto the directions in which w̃_α(g) can move."""
    polytope = sum_projection.unpacked(ints, floats)
    decision, scratch = np.empty_like(w), np.empty_like(w)
    sum_projection.project(polytope, w, alpha, scratch, decision)
    sum_projection.tangent(polytope, decision, costs, w)
    for i in range(w.shape[0]):
        w[i] /= -alpha
