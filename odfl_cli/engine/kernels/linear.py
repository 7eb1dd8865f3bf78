"""The gradient of the smoothed cost of the paper's problem: linear model, simplex, entropy."""

import numpy as np

from odfl_cli.core.compiling import inner


@inner
def entropy_vjp(w, sharpness, costs):
    """w = −(1/α) w̃ ∘ (c − f̃) in place of g, with w̃ = softmax(−g/α) and f̃ = ⟨c, w̃⟩; sharpness = 1/α.

    The softmax is shifted by its largest exponent and normalised last; the first item's cost is
    subtracted from all, so that equal costs give exactly zero.
    """
    lowest, total, value = w[0], 0.0, 0.0
    for i in range(1, w.shape[0]):
        lowest = min(lowest, w[i])
    for i in range(w.shape[0]):
        w[i] = np.exp((lowest - w[i]) * sharpness)
        total += w[i]
        value += w[i] * (costs[i] - costs[0])
    value, scale = value / total, sharpness / total
    for i in range(w.shape[0]):
        w[i] *= (value - (costs[i] - costs[0])) * scale
