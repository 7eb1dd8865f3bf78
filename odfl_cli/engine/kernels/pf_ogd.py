"""PF-OGD, compiled; see odfl_cli.algorithms.pf_ogd."""

import numpy as np

from odfl_cli.core.compiling import kernel
from odfl_cli.engine.kernels.gradient_play import SIGNATURE, preparing
from odfl_cli.engine.kernels.inner import decide, step
from odfl_cli.engine.kernels.predictors import vjp


@kernel(SIGNATURE)
def play(parts, X, costs, theta, eta, radius, paid, errors):
    """Rounds of one seed: X [B, d, p], costs [B, d]; θ [m] is updated in place."""
    prediction, w = np.empty(costs.shape[1]), np.empty(costs.shape[1])
    residual, gradient = np.empty(costs.shape[1]), np.empty(theta.shape[0])
    for t in range(costs.shape[0]):
        paid[t], errors[t] = decide(parts, X[t], costs[t], theta, prediction, w)
        for i in range(residual.shape[0]):
            residual[i] = 2.0 * (prediction[i] - costs[t, i])
        vjp(parts.predictor, X[t], residual, gradient)
        step(theta, eta, gradient, radius)


prepare = preparing(play)
