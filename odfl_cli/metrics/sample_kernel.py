"""Many parameters at once on many rounds: the linear model on the simplex, compiled.

The parameters are the columns of `thetas` [m, C], so that the innermost loops become vector
instructions.
"""

import numpy as np

from odfl_cli.compiling import inner, kernel

SQUARINGS = 6


@inner
def predict(x, thetas, g):
    """g[c] = ⟨x, θ_c⟩."""
    g[:] = 0.0
    for j in range(len(x)):
        row = thetas[j]
        for c in range(len(g)):
            g[c] += x[j] * row[c]


@kernel("void(f8[:,:,::1], f8[:,::1], f8[:,::1], f8[:,::1])")
def score(X, costs, thetas, paid):
    """paid[n, c] = cost of the item that parameter c plays in round n; the first of equals."""
    g, lowest = np.empty(thetas.shape[1]), np.empty(thetas.shape[1])
    for n in range(costs.shape[0]):
        lowest[:] = np.inf
        played = paid[n]
        for i in range(costs.shape[1]):
            predict(X[n, i], thetas, g)
            cost = costs[n, i]
            for c in range(len(g)):
                played[c] = cost if g[c] < lowest[c] else played[c]
                lowest[c] = min(g[c], lowest[c])


@inner
def add_gradient(X, costs, thetas, scale, w, rows, sums):
    """sums[:, c] += α ∇f̃(θ_c) of one round, X [d, p] and costs [d], with α = 1 / (64 scale).

    ∇f̃ = −(1/α) Xᵀ[w̃ ∘ (c − f̃)] with w̃ = softmax(−Xθ/α). A search needs a direction and not its last
    digits, so eˣ is (1 + x/64)^64, cut off below, which vectorises.
    """
    lowest, total, value = rows
    lowest[:] = np.inf
    total[:] = 0.0
    value[:] = 0.0
    for i in range(len(costs)):
        g = w[i]
        predict(X[i], thetas, g)
        for c in range(len(g)):
            lowest[c] = min(lowest[c], g[c])
    for i in range(len(costs)):
        cost, weight = costs[i], w[i]
        for c in range(len(weight)):
            x = max(0.0, 1.0 + (lowest[c] - weight[c]) * scale)
            for _ in range(SQUARINGS):
                x *= x
            weight[c] = x
            total[c] += x
            value[c] += x * cost
    for c in range(len(total)):
        total[c] = 1.0 / total[c]
        value[c] *= total[c]
    for i in range(len(costs)):
        cost, weight = costs[i], w[i]
        for c in range(len(weight)):
            weight[c] *= (value[c] - cost) * total[c]
        for j in range(len(sums)):
            x, row = X[i, j], sums[j]
            for c in range(len(weight)):
                row[c] += x * weight[c]


@inner
def make_unit(vectors):
    """Scales the columns to length 1; 0 stays."""
    for c in range(vectors.shape[1]):
        square = 0.0
        for j in range(vectors.shape[0]):
            square += vectors[j, c] ** 2
        length = max(np.sqrt(square), 1e-300)
        for j in range(vectors.shape[0]):
            vectors[j, c] /= length


@inner
def project(thetas, radius):
    """Columns that are longer than the radius are cut to it."""
    for c in range(thetas.shape[1]):
        square = 0.0
        for j in range(thetas.shape[0]):
            square += thetas[j, c] ** 2
        if square > radius * radius:
            factor = radius / np.sqrt(square)
            for j in range(thetas.shape[0]):
                thetas[j, c] *= factor


@kernel("void(f8[:,:,::1], f8[:,::1], i8, f8[::1], f8[::1], f8, f8, f8[:,::1])")
def descend(X, costs, stride, alphas, rates, momentum, radius, thetas):
    """Moves the parameters by as many steps as there are rates, projected on the ball of that radius.

    Step s sees rounds s, s + stride, … and goes against the normalised mean gradient.
    """
    w = np.empty((costs.shape[1], thetas.shape[1]))
    rows = (w[0].copy(), w[0].copy(), w[0].copy())
    gradients, direction = np.empty_like(thetas), np.zeros_like(thetas)
    for s in range(len(rates)):
        gradients[:] = 0.0
        scale = 1.0 / (alphas[s] * 2.0**SQUARINGS)
        for n in range(s % stride, costs.shape[0], stride):
            add_gradient(X[n], costs[n], thetas, scale, w, rows, gradients)
        make_unit(gradients)
        direction *= momentum
        direction += gradients
        gradients[:] = direction
        make_unit(gradients)
        thetas -= rates[s] * gradients
        project(thetas, radius)
