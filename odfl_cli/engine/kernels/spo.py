"""Online SPO+, compiled; see odfl_cli.algorithms.spo."""

import numpy as np

from odfl_cli.compiling import kernel
from odfl_cli.engine.kernels.gradient_play import SIGNATURE, preparing
from odfl_cli.engine.kernels.inner import decide, minimise, project


@kernel(SIGNATURE)
def play(X, costs, theta, eta, radius, paid, errors):
    """Rounds of one seed. Xᵀ∂ℓ is twice the difference of two rows of X: best minus optimistic."""
    shifted = np.empty(costs.shape[1])
    for t in range(costs.shape[0]):
        _, paid[t], errors[t] = decide(X[t], costs[t], theta, shifted)
        for i in range(shifted.shape[0]):
            shifted[i] = 2.0 * shifted[i] - costs[t, i]
        best, optimistic = minimise(costs[t]), minimise(shifted)
        for j in range(theta.shape[0]):
            theta[j] -= eta * 2.0 * (X[t, best, j] - X[t, optimistic, j])
        project(theta, radius)


prepare = preparing(play)
