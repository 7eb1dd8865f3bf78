"""Eight parameters at once on many rounds: the linear model on the simplex, compiled.

Eight is fixed, so that the innermost loops become vector instructions.
"""

import numpy as np

from odfl_cli.compiling import inner, kernel

LANES = 8
SQUARINGS = 6


@inner
def predict(X, thetas, n, i, g):
    """g[i, c] = ⟨X[n, i], θ_c⟩ for thetas [m, LANES]."""
    for c in range(LANES):
        g[i, c] = 0.0
    for j in range(X.shape[2]):
        x = X[n, i, j]
        for c in range(LANES):
            g[i, c] += x * thetas[j, c]


@kernel("void(f8[:,:,::1], f8[:,::1], f8[:,::1], f8[:,::1])")
def score(X, costs, thetas, paid):
    """paid[n, c] = cost of the item that parameter c plays in round n; the first of equals."""
    g = np.empty((costs.shape[1], LANES))
    lowest = np.empty(LANES)
    for n in range(costs.shape[0]):
        lowest[:] = np.inf
        for i in range(costs.shape[1]):
            predict(X, thetas, n, i, g)
            cost = costs[n, i]
            for c in range(LANES):
                better = g[i, c] < lowest[c]
                lowest[c] = g[i, c] if better else lowest[c]
                paid[n, c] = cost if better else paid[n, c]


@kernel("void(f8[:,:,::1], f8[:,::1], i8, i8, f8[:,::1], f8, f8[:,::1])")
def gradients(X, costs, first, stride, thetas, alpha, out):
    """out[:, c] = mean over rounds first, first + stride, … of ∇f̃(θ_c); thetas and out are [m, LANES].

    ∇f̃ = −(1/α) Xᵀ[w̃ ∘ (c − f̃)] with w̃ = softmax(−Xθ/α). A search needs a direction and not its last
    digits, so eˣ is (1 + x/64)^64, cut off below, which vectorises.
    """
    items, features = X.shape[1:]
    w = np.empty((items, LANES))
    lowest, total, value = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    sums = np.zeros((features, LANES))
    scale = 1.0 / (alpha * 2.0**SQUARINGS)
    rounds = 0
    for n in range(first, costs.shape[0], stride):
        rounds += 1
        lowest[:] = np.inf
        for i in range(items):
            predict(X, thetas, n, i, w)
            for c in range(LANES):
                lowest[c] = min(lowest[c], w[i, c])
        total[:] = 0.0
        value[:] = 0.0
        for i in range(items):
            cost = costs[n, i]
            for c in range(LANES):
                x = max(0.0, 1.0 + (lowest[c] - w[i, c]) * scale)
                for _ in range(SQUARINGS):
                    x *= x
                w[i, c] = x
                total[c] += x
                value[c] += x * cost
        for c in range(LANES):
            total[c] = 1.0 / total[c]
            value[c] *= total[c]
        for i in range(items):
            cost = costs[n, i]
            for c in range(LANES):
                w[i, c] *= (value[c] - cost) * total[c]
            for j in range(features):
                x = X[n, i, j]
                for c in range(LANES):
                    sums[j, c] += x * w[i, c]
    for j in range(features):
        for c in range(LANES):
            out[j, c] = sums[j, c] / (alpha * rounds)
