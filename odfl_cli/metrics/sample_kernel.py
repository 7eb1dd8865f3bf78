"""Many parameters on many rounds: the linear model on the simplex, compiled.

Innermost loops go over parameters or over rounds, for these become vector instructions.
"""

import numpy as np

from odfl_cli.core.compiling import inner, kernel

SQUARINGS = 6
SHORT = np.float32
ZERO, ONE = SHORT(0.0), SHORT(1.0)
FLOOR = SHORT(
    0.5
)  # its 64th power is next to nothing, and no subnormal number, which would be slow


@inner
def predict(x, thetas, g):
    """g[c] = ⟨x, θ_c⟩ for thetas [m, C]."""
    g[:] = 0.0
    for j in range(len(x)):
        row = thetas[j]
        for c in range(len(g)):
            g[c] += x[j] * row[c]


@kernel("void(f8[:,:,::1], f8[:,::1], f8[:,::1], f8[:,::1])")
def score(X, costs, thetas, paid):
    """paid[c, n] = cost of the item that parameter c plays in round n; the first of equals."""
    count = thetas.shape[1]
    g, lowest, played = np.empty(count), np.empty(count), np.empty(count)
    for n in range(costs.shape[0]):
        lowest[:] = np.inf
        for i in range(costs.shape[1]):
            predict(X[n, i], thetas, g)
            cost = costs[n, i]
            for c in range(count):
                played[c] = cost if g[c] < lowest[c] else played[c]
                lowest[c] = min(g[c], lowest[c])
        paid[:, n] = played


@inner
def gather(X, costs, first, stride, XT, costsT):
    """Every `stride`-th round, turned so that rounds lie side by side: XT [d, p, B], costsT [d, B]."""
    for b in range(costsT.shape[1]):
        n = first + b * stride
        for i in range(costs.shape[1]):
            costsT[i, b] = costs[n, i]
            for j in range(X.shape[2]):
                XT[i, j, b] = X[n, i, j]


@inner
def predict_rounds(XT, theta, g):
    """g[b] = ⟨XT[:, b], θ⟩, two features at a time."""
    odd = len(theta) % 2
    g[:] = ZERO
    if odd:
        weight, row = SHORT(theta[0]), XT[0]
        for b in range(len(g)):
            g[b] = weight * row[b]
    for j in range(odd, len(theta), 2):
        one, other = SHORT(theta[j]), SHORT(theta[j + 1])
        row, next_row = XT[j], XT[j + 1]
        for b in range(len(g)):
            g[b] += one * row[b] + other * next_row[b]


@inner
def gradient(XT, costsT, theta, alpha, w, lowest, total, value, out):
    """out = α Σ_b ∇f̃(θ), over the rounds b.

    ∇f̃ = −(1/α) Xᵀ[w̃ ∘ (c − f̃)] with w̃ = softmax(−Xθ/α). A search needs a direction and not its last
    digits: numbers are short, and eˣ is (1 + x/64)^64, cut off below, which vectorises.
    """
    scale = SHORT(1.0 / (alpha * 2.0**SQUARINGS))
    lowest[:] = SHORT(np.inf)
    total[:] = ZERO
    value[:] = ZERO
    for i in range(len(w)):
        g = w[i]
        predict_rounds(XT[i], theta, g)
        for b in range(len(g)):
            lowest[b] = min(lowest[b], g[b])
    for i in range(len(w)):
        g, cost = w[i], costsT[i]
        for b in range(len(g)):
            x = max(FLOOR, ONE + (lowest[b] - g[b]) * scale)
            for _ in range(SQUARINGS):
                x *= x
            g[b] = x
            total[b] += x
            value[b] += x * cost[b]
    for b in range(len(total)):
        total[b] = ONE / total[b]
        value[b] *= total[b]
    out[:] = 0.0
    for i in range(len(w)):
        g, cost = w[i], costsT[i]
        for b in range(len(g)):
            g[b] *= (value[b] - cost[b]) * total[b]
        for j in range(len(out)):
            row, product = XT[i, j], ZERO
            for b in range(len(g)):
                product += row[b] * g[b]
            out[j] += product


@inner
def length(vector):
    """‖v‖."""
    square = 0.0
    for j in range(len(vector)):
        square += vector[j] * vector[j]
    return np.sqrt(square)


@kernel("void(f8[:,:,::1], f8[:,::1], i8, f8[::1], f8[::1], f8, f8, f8[:,::1])")
def descend(X, costs, stride, alphas, rates, momentum, radius, thetas):
    """Moves the parameters `thetas` [C, m] by as many steps as there are rates, within the radius.

    Step s sees rounds s, s + stride, … and goes against the normalised mean gradient.
    """
    items, features = X.shape[1:]
    rounds = costs.shape[0] // stride
    XT, costsT = np.empty((items, features, rounds), SHORT), np.empty((items, rounds), SHORT)
    w, lowest = np.empty((items, rounds), SHORT), np.empty(rounds, SHORT)
    total, value = np.empty(rounds, SHORT), np.empty(rounds, SHORT)
    uphill, direction = np.empty(features), np.zeros_like(thetas)
    for s in range(len(rates)):
        gather(X, costs, s % stride, stride, XT, costsT)
        for c in range(len(thetas)):
            gradient(XT, costsT, thetas[c], alphas[s], w, lowest, total, value, uphill)
            shrink = 1.0 / max(length(uphill), 1e-300)
            for j in range(features):
                direction[c, j] = momentum * direction[c, j] + shrink * uphill[j]
            step = rates[s] / max(length(direction[c]), 1e-300)
            for j in range(features):
                thetas[c, j] -= step * direction[c, j]
            shrink = radius / max(length(thetas[c]), radius)
            for j in range(features):
                thetas[c, j] *= shrink
