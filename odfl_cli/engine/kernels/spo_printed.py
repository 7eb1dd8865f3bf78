"""SPO as printed, compiled; see odfl_cli.algorithms.spo_printed."""

import numpy as np

from odfl_cli.compiling import kernel
from odfl_cli.engine.kernels.gradient_play import SIGNATURE, preparing
from odfl_cli.engine.kernels.inner import decide, project


@kernel(SIGNATURE)
def play(X, costs, theta, eta, radius, paid, errors):
    """Rounds of one seed. −Xᵀv*(ĉ) is minus the row of the item played."""
    prediction = np.empty(costs.shape[1])
    for t in range(costs.shape[0]):
        item, paid[t], errors[t] = decide(X[t], costs[t], theta, prediction)
        for j in range(theta.shape[0]):
            theta[j] += eta * X[t, item, j]
        project(theta, radius)


prepare = preparing(play)
