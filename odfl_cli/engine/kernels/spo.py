"""Online SPO+, compiled; see odfl_cli.algorithms.spo."""

import numpy as np

from odfl_cli.core.compiling import kernel
from odfl_cli.engine.kernels.gradient_play import SIGNATURE, preparing
from odfl_cli.engine.kernels.inner import decide, step
from odfl_cli.engine.kernels.polytopes import minimise
from odfl_cli.engine.kernels.predictors import vjp


@kernel(SIGNATURE)
def play(parts, X, costs, theta, eta, radius, paid, errors):
    """Rounds of one seed: θ_{t+1} = Π_Θ(θ_t − η ∇gᵀ 2(w*(c) − w*(2ĉ − c)))."""
    d = costs.shape[1]
    shifted, w, best = np.empty(d), np.empty(d), np.empty(d)
    gradient = np.empty(theta.shape[0])
    for t in range(costs.shape[0]):
        paid[t], errors[t] = decide(parts, X[t], costs[t], theta, shifted, w)
        for i in range(d):
            shifted[i] = 2.0 * shifted[i] - costs[t, i]
        minimise(parts.polytope, parts.numbers, costs[t], best)
        minimise(parts.polytope, parts.numbers, shifted, w)
        for i in range(d):
            w[i] = 2.0 * (best[i] - w[i])
        vjp(parts.predictor, X[t], w, gradient)
        step(theta, eta, gradient, radius)


prepare = preparing(play)
