"""Many parameters on many rounds: the linear model on the simplex, compiled.

Innermost loops go over parameters or over rounds, for these become vector instructions.
"""

import numpy as np

from odfl_cli.core.compiling import inner, kernel
from odfl_cli.core.signatures import f8, i8, void
from odfl_cli.engine.kernels.predictors import vjp_linear

BLOCK = 256
"""Rounds whose numbers stay in the processor's nearest cache."""

SQUARINGS = 6
SHORT = np.float32
ZERO, ONE = SHORT(0.0), SHORT(1.0)
FLOOR = SHORT(0.75)
NOTHING = FLOOR
for _ in range(SQUARINGS):
    NOTHING = NOTHING * NOTHING  # what e⁻¹⁶ and less comes out as, taken off to make it 0:
# products of such numbers would be subnormal and slow


@kernel(void(f8[:, :, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1]))
def score(X, costs, thetas, paid):
    """paid[c, n] = cost of the item that θ_c of thetas [m, C] plays in round n; the first of equals."""
    count = thetas.shape[1]
    g, lowest, played = np.empty(count), np.empty(count), np.empty(count)
    for n in range(costs.shape[0]):
        lowest[:] = np.inf
        for i in range(costs.shape[1]):
            vjp_linear(thetas, X[n, i], g)  # g_c = ⟨x_i, θ_c⟩
            cost = costs[n, i]
            for c in range(count):
                played[c] = cost if g[c] < lowest[c] else played[c]
                lowest[c] = min(g[c], lowest[c])
        paid[:, n] = played


@inner
def pack(X, costs, rounds, XT, costsT):
    """Turns rounds 0 ≤ n < `rounds` so that rounds lie side by side: XT [blocks, d, p, B], costsT [blocks, d, B].

    Block k holds the rounds k, k + blocks, …; what is left of it is zero, which adds no gradient.
    """
    blocks = XT.shape[0]
    for k in range(blocks):
        for i in range(costs.shape[1]):
            for b in range(-(-(rounds - k) // blocks)):
                n = k + b * blocks
                costsT[k, i, b] = costs[n, i]
                for j in range(X.shape[2]):
                    XT[k, i, j, b] = X[n, i, j]


@inner
def predict_rounds(XT, theta, g):
    """g[b] = ⟨XT[:, b], θ⟩, four features at a time."""
    rest = len(theta) % 4
    g[:] = ZERO
    for j in range(rest):
        weight, row = SHORT(theta[j]), XT[j]
        for b in range(len(g)):
            g[b] += weight * row[b]
    for j in range(rest, len(theta), 4):
        w0, w1, w2, w3 = (
            SHORT(theta[j]),
            SHORT(theta[j + 1]),
            SHORT(theta[j + 2]),
            SHORT(theta[j + 3]),
        )
        x0, x1, x2, x3 = XT[j], XT[j + 1], XT[j + 2], XT[j + 3]
        for b in range(len(g)):
            g[b] += w0 * x0[b] + w1 * x1[b] + w2 * x2[b] + w3 * x3[b]


@inner
def add_gradient(XT, costsT, theta, alpha, w, lowest, total, value, out):
    """out += α Σ_b ∇f̃(θ), over the rounds b of one block.

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
            lowest[b] = np.fmin(lowest[b], g[b])  # `min` would become a slow masked store
    for i in range(len(w)):
        g, cost = w[i], costsT[i]
        for b in range(len(g)):
            x = max(FLOOR, ONE + (lowest[b] - g[b]) * scale)
            for _ in range(SQUARINGS):
                x *= x
            x -= NOTHING
            g[b] = x
            total[b] += x
            value[b] += x * cost[b]
    for b in range(len(total)):
        total[b] = ONE / total[b]
        value[b] *= total[b]
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


@kernel(void(f8[:, :, ::1], f8[:, ::1], i8, f8[::1], f8[::1], f8, f8, f8[:, ::1]))
def descend(X, costs, stride, alphas, rates, momentum, radius, thetas):
    """Moves the parameters `thetas` [C, m] by as many steps as there are rates, within the radius.

    Step s sees rounds s, s + stride, … and goes against the normalised mean gradient.
    """
    items, features = X.shape[1:]
    rounds = costs.shape[0] // stride * stride
    blocks = stride * max(1, -(-rounds // (stride * BLOCK)))
    size = -(-rounds // blocks)
    XT = np.zeros((blocks, items, features, size), SHORT)
    costsT = np.zeros((blocks, items, size), SHORT)
    pack(X, costs, rounds, XT, costsT)
    w, lowest = np.empty((items, size), SHORT), np.empty(size, SHORT)
    total, value = np.empty(size, SHORT), np.empty(size, SHORT)
    uphill, direction = np.empty(features), np.zeros_like(thetas)
    for s in range(len(rates)):
        for c in range(len(thetas)):
            uphill[:] = 0.0
            for k in range(s % stride, blocks, stride):
                add_gradient(
                    XT[k], costsT[k], thetas[c], alphas[s], w, lowest, total, value, uphill
                )
            shrink = 1.0 / max(length(uphill), 1e-300)
            for j in range(features):
                direction[c, j] = momentum * direction[c, j] + shrink * uphill[j]
            step = rates[s] / max(length(direction[c]), 1e-300)
            for j in range(features):
                thetas[c, j] -= step * direction[c, j]
            shrink = radius / max(length(thetas[c]), radius)
            for j in range(features):
                thetas[c, j] *= shrink
