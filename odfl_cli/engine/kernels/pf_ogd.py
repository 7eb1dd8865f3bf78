"""PF-OGD, compiled; see odfl_cli.algorithms.pf_ogd."""

import numpy as np

from odfl_cli.compiling import kernel
from odfl_cli.engine.kernels.gradient_play import SIGNATURE, preparing
from odfl_cli.engine.kernels.inner import decide, step, vjp


@kernel(SIGNATURE)
def play(X, costs, theta, eta, radius, paid, errors):
    """Rounds of one seed: X [B, d, p], costs [B, d]; θ [m] is updated in place."""
    residual = np.empty(costs.shape[1])
    gradient = np.empty(theta.shape[0])
    for t in range(costs.shape[0]):
        _, paid[t], errors[t] = decide(X[t], costs[t], theta, residual)
        for i in range(residual.shape[0]):
            residual[i] = 2.0 * (residual[i] - costs[t, i])
        vjp(X[t], residual, gradient)
        step(theta, eta, gradient, radius)


prepare = preparing(play)
