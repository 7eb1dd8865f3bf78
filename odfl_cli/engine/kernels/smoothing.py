"""The gradient of the smoothed cost, compiled, whatever smooths it."""

import numpy as np

from odfl_cli.core.compiling import allocating, inner
from odfl_cli.engine.kernels.polytopes import cheapest
from odfl_cli.engine.kernels.predictors import predict, vjp
from odfl_cli.engine.parts import ENTROPY
from odfl_cli.problem.regularizers import newton
from odfl_cli.problem.regularizers.log_barrier import GOOD_ENOUGH

STEPS, RESIDUAL, ALPHA = range(3)
"""A report of Newton's method: steps so far; residual and α where it failed first, else zeros."""


@inner
def smoothed_gradient(parts, X, costs, theta, alpha, w, newton, out):
    """out = ∇f̃(θ) = (∇_θ g)ᵀ (∂w̃/∂g)ᵀ c; w is scratch, `newton` a report that is kept."""
    predict(parts.predictor, X, theta, w)
    if parts.regularizer == ENTROPY:
        entropy_vjp(w, alpha, costs)
    else:
        barrier_vjp(parts.whole, parts.real, w, alpha, costs, newton)
    vjp(parts.predictor, X, w, out)


@inner
def entropy_vjp(w, alpha, costs):
    """w = −(1/α) w̃ ∘ (c − f̃) in place of g, with w̃ = softmax(−g/α) and f̃ = ⟨c, w̃⟩.

    The softmax is shifted by its largest exponent and normalised last; costs count from the
    first item's, so that equal costs give exactly zero.
    """
    lowest, sharpness = w[cheapest(w)], 1.0 / alpha
    total, value = 0.0, 0.0
    for i in range(w.shape[0]):
        w[i] = np.exp((lowest - w[i]) * sharpness)
        total += w[i]
        value += w[i] * (costs[i] - costs[0])
    value /= total
    scale = sharpness / total
    for i in range(w.shape[0]):
        w[i] *= (value - (costs[i] - costs[0])) * scale


@allocating
def barrier_vjp(whole, real, w, alpha, costs, report):
    """w = −(1/α) H⁻¹ c in place of g, H the barrier's Hessian at w̃_α(g)."""
    barrier = newton.unpacked(whole, real)
    work = newton.workspace(barrier)
    steps, residual = newton.smooth(barrier, work, w, alpha, work.w)
    report[STEPS] += steps
    if report[ALPHA] == 0.0 and not residual <= max(barrier.tolerance, GOOD_ENOUGH):
        report[RESIDUAL], report[ALPHA] = residual, alpha
    newton.vjp(barrier, work, work.w, alpha, costs, w)
