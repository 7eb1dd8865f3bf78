"""The gradient of the smoothed cost, compiled, whatever smooths it."""

from typing import NamedTuple

import numpy as np

from odfl_cli.compiling import inlined, inner
from odfl_cli.engine.kernels.polytopes import cheapest
from odfl_cli.engine.kernels.predictors import predict, vjp
from odfl_cli.engine.parts import ENTROPY
from odfl_cli.regularizers import newton
from odfl_cli.regularizers.log_barrier import GOOD_ENOUGH


class Smoother(NamedTuple):
    """Scratch of one seed, and what Newton's method has to report."""

    w: np.ndarray  # [d]
    work: newton.Workspace
    steps: np.ndarray  # Newton steps since they were last set to zero, [1]
    stuck: np.ndarray  # residual and α where Newton failed first, [2]; zeros while it has not


@inner
def smoother(parts, items, stuck):
    """For a problem with so many items."""
    return Smoother(np.empty(items), newton.workspace(parts.barrier), np.zeros(1), stuck)


@inlined
def smoothed_gradient(parts, smoother, X, costs, theta, alpha, out):
    """out = ∇f̃(θ) = (∇_θ g)ᵀ (∂w̃/∂g)ᵀ c."""
    predict(parts.predictor, X, theta, smoother.w)
    if parts.regularizer == ENTROPY:
        entropy_vjp(smoother.w, alpha, costs)
    else:
        barrier_vjp(parts.barrier, smoother, alpha, costs)
    vjp(parts.predictor, X, smoother.w, out)


@inlined
def failed(smoother):
    """Whether a Newton solve has failed."""
    return smoother.stuck[1] > 0.0


@inlined
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


@inner
def barrier_vjp(barrier, smoother, alpha, costs):
    """w = −(1/α) H⁻¹ c in place of g, H the barrier's Hessian at w̃_α(g)."""
    w, work = smoother.w, smoother.work
    steps, residual = newton.smooth(barrier, work, w, alpha, work.w)
    smoother.steps[0] += steps
    if not failed(smoother) and not residual <= max(barrier.tolerance, GOOD_ENOUGH):
        smoother.stuck[0], smoother.stuck[1] = residual, alpha
    newton.vjp(barrier, work, work.w, alpha, costs, w)
