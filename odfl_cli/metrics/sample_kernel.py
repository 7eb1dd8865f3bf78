"""Many parameters on many rounds: the linear model on the simplex, compiled.

The innermost loops run over parameters or rounds that lie side by side, so that they become vector instructions.
"""

import numpy as np
from numba import f8, i8, void

from odfl_cli.core.compiling import exact, inner, kernel
from odfl_cli.engine.kernels.matrices import dot, vjp

TOGETHER = 16  # rounds side by side
SQUARINGS = 6  # eˣ is computed as (1 + x/64)^64 by so many squarings
LEAST_BASE = 0.75  # 1 + x/64 is not less: x below −16 counts as −16
LEAST_EXP = LEAST_BASE ** (2**SQUARINGS)


@kernel(void(f8[:, :, ::1], f8[:, ::1], f8[:, ::1], i8[::1], f8[::1], f8[:, ::1]))
def score(X, costs, thetas, stops, total, sums):
    """total[c] += the costs of what column c of thetas plays in each round; sums[e] = total after stops[e] of them.

    thetas [m, C], total [C] and sums [E, C]; stops ascend. Of equal predictions the first is played.
    """
    e, g, lowest, paid = 0, np.empty_like(total), np.empty_like(total), np.empty_like(total)
    while e < len(stops) and stops[e] < 1:
        e += 1
    for n in range(len(costs)):
        lowest[:] = np.inf
        paid[:] = costs[n, 0]  # where all predictions are NaN
        for i in range(X.shape[1]):
            vjp(thetas, X[n, i], g)
            for c in range(len(g)):
                paid[c] = costs[n, i] if g[c] < lowest[c] else paid[c]
                lowest[c] = g[c] if g[c] < lowest[c] else lowest[c]
        for c in range(len(g)):
            total[c] += paid[c]
        while e < len(stops) and stops[e] == n + 1:
            sums[e] = total
            e += 1


def side_by_side(values, stride):
    """Rounds n, n + stride, … of values [N, ...] in blocks: [blocks, ..., TOGETHER].

    Block k holds rounds of the steps k, k + stride, …. What is left of it is zero, which adds no gradient.
    """
    shape, used = values.shape[1:], len(values) // stride * stride
    padded = np.zeros((-(-used // (TOGETHER * stride)) * TOGETHER, stride, *shape))
    padded.reshape(-1, *shape)[:used] = values[:used]
    grouped = np.moveaxis(padded.reshape(-1, TOGETHER, stride, *shape), 1, -1)
    return np.ascontiguousarray(grouped).reshape(-1, *shape, TOGETHER)


@exact
def entropy_vjp(X, costs, theta, scale, w, lowest, total, value):
    """w = w̃ ∘ (f̃ − c) in the rounds of a block, [d, TOGETHER], with w̃ = softmax(−Xθ/α) and f̃ = ⟨c, w̃⟩.

    A search needs a direction and not its last digits: eˣ is approximate; scale = 1/(64 α).
    """
    lowest[:], total[:], value[:] = np.inf, 0.0, 0.0
    for i in range(len(w)):
        vjp(X[i], theta, w[i])
        for b in range(TOGETHER):
            lowest[b] = min(w[i, b], lowest[b])
    for i in range(len(w)):
        for b in range(TOGETHER):
            x = max(1.0 + (lowest[b] - w[i, b]) * scale, LEAST_BASE)
            for _ in range(SQUARINGS):
                x = x * x
            w[i, b] = x - LEAST_EXP
            total[b] += w[i, b]
            value[b] += w[i, b] * costs[i, b]
    for i in range(len(w)):
        for b in range(TOGETHER):
            w[i, b] *= (value[b] / total[b] - costs[i, b]) / total[b]


@inner
def move(theta, slope, direction, momentum, rate, radius):
    """A step of that length against the slope, scaled to 1, and earlier directions."""
    shrink = 1.0 / max(np.sqrt(dot(slope, slope)), 1e-300)
    for j in range(len(theta)):
        direction[j] = momentum * direction[j] + shrink * slope[j]
    step = rate / max(np.sqrt(dot(direction, direction)), 1e-300)
    for j in range(len(theta)):
        theta[j] -= step * direction[j]
    shrink = radius / max(np.sqrt(dot(theta, theta)), radius)
    for j in range(len(theta)):
        theta[j] *= shrink


@kernel(void(f8[:, :, :, ::1], f8[:, :, ::1], i8, f8[::1], f8[::1], f8, f8, f8[:, ::1]))
def descend(X, costs, stride, alphas, rates, momentum, radius, thetas):
    """Moves the parameters `thetas` [C, m] by as many steps as there are rates, within the radius.

    Step s goes against the normalised mean gradient of rounds s, s + stride, …, packed by `side_by_side`.
    """
    items = X.shape[1]
    w, (lowest, total, value) = np.empty((items, TOGETHER)), np.empty((3, TOGETHER))
    slopes, directions = np.empty_like(thetas), np.zeros_like(thetas)
    for s in range(len(rates)):
        slopes[:] = 0.0
        scale = 1.0 / (alphas[s] * 2.0**SQUARINGS)
        for k in range(s % stride, len(X), stride):
            for c in range(len(thetas)):
                entropy_vjp(X[k], costs[k], thetas[c], scale, w, lowest, total, value)
                for i in range(items):
                    for j in range(thetas.shape[1]):
                        slopes[c, j] += dot(X[k, i, j], w[i])
        for c in range(len(thetas)):
            move(thetas[c], slopes[c], directions[c], momentum, rates[s], radius)
