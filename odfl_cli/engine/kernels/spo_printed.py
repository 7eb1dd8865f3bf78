"""SPO as printed, compiled; see odfl_cli.algorithms.spo_printed."""

import numpy as np

from odfl_cli.core.compiling import kernel
from odfl_cli.engine.kernels.gradient_play import SIGNATURE, preparing
from odfl_cli.engine.kernels.inner import decide, step
from odfl_cli.engine.kernels.predictors import vjp


@kernel(SIGNATURE)
def play(parts, X, costs, theta, eta, radius, paid, errors):
    """Rounds of one seed: θ_{t+1} = Π_Θ(θ_t + η ∇gᵀ w*(ĉ))."""
    prediction, w = np.empty(costs.shape[1]), np.empty(costs.shape[1])
    gradient = np.empty(theta.shape[0])
    for t in range(costs.shape[0]):
        paid[t], errors[t] = decide(parts, X[t], costs[t], theta, prediction, w)
        vjp(parts.predictor, X[t], w, gradient)
        step(theta, -eta, gradient, radius)


prepare = preparing(play)
