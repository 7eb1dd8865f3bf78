"""Many parameters on many rounds: the linear model on the simplex, compiled.

Parameters are scored side by side in registers; a descent has rounds side by side.
"""

import numpy as np
from numba import f4, f8, i8, void

from odfl_cli.core.compiling import exact, inner, kernel
from odfl_cli.core.lanes import (
    WIDE,
    gather_rows,
    load_short,
    load_wide,
    scatter_rows,
    spread_short,
    spread_wide,
    store,
    where_less,
)

SHORT = np.float32
ZERO, ONE = SHORT(0.0), SHORT(1.0)
SQUARINGS = 6  # eˣ is computed as (1 + x/64)^64 by so many squarings
LEAST_BASE = SHORT(0.75)  # 1 + x/64 is not less: x below −16 counts as −16
LEAST_EXP = LEAST_BASE
for _ in range(SQUARINGS):
    LEAST_EXP = LEAST_EXP * LEAST_EXP
"""Subtracted from every eˣ, so that the least is 0: products of tiny numbers would be subnormal and slow."""


@kernel(void(f8[:, :, ::1], f8[:, ::1], f8[:, ::1], i8[::1], f8[:, ::1], f8[:, ::1]))
def score(X, costs, thetas, stops, total, sums):
    """total[c] += the costs of what thetas[c] plays in each round; sums[c, e] = total[c] after stops[e] of them.

    thetas [C, m], total [C, 1] and sums [C, E]; stops ascend. Of equal predictions the first is played.
    """
    theta, now = np.empty((thetas.shape[1], WIDE)), np.empty((1, WIDE))
    for c in range(0, len(thetas), WIDE):
        gather_rows(thetas, c, theta)
        gather_rows(total, c, now)
        paid, e = load_wide(now, (0,)), 0
        while e < len(stops) and stops[e] < 1:
            e += 1
        for n in range(len(costs)):
            lowest, played = spread_wide(np.inf), spread_wide(costs[n, 0])  # of NaN, item 0
            for i in range(X.shape[1]):
                g = spread_wide(0.0)
                for j in range(X.shape[2]):
                    g = g + X[n, i, j] * load_wide(theta, (j,))
                played = where_less(g, lowest, costs[n, i], played)
                lowest = where_less(g, lowest, g, lowest)
            paid = paid + played
            while e < len(stops) and stops[e] == n + 1:
                store(now, (0,), paid)
                scatter_rows(now, c, sums[:, e : e + 1])
                e += 1
        store(now, (0,), paid)
        scatter_rows(now, c, total)


def side_by_side(values, stride):
    """Rounds n, n + stride, … of values [N, ...] in short floats: [blocks, ..., WIDE].

    Block k holds rounds of the steps k, k + stride, …. What is left of it is zero, which adds no gradient.
    """
    shape, used = values.shape[1:], len(values) // stride * stride
    padded = np.zeros((-(-used // (WIDE * stride)) * WIDE, stride, *shape), SHORT)
    padded.reshape(-1, *shape)[:used] = values[:used]
    grouped = np.moveaxis(padded.reshape(-1, WIDE, stride, *shape), 1, -1)
    return np.ascontiguousarray(grouped).reshape(-1, *shape, WIDE)


@exact
def short_entropy_vjp(XT, costsT, k, theta, scale, w):
    """w = w̃ ∘ (f̃ − c) in the rounds of block k, [d, WIDE], with w̃ = softmax(−Xθ/α) and f̃ = ⟨c, w̃⟩.

    A search needs a direction and not its last digits: numbers are short, and eˣ is
    approximate; scale = 1/(64 α).
    """
    lowest, total, value = spread_short(SHORT(np.inf)), spread_short(ZERO), spread_short(ZERO)
    for i in range(len(w)):
        g = spread_short(ZERO)
        for j in range(len(theta)):
            g = g + theta[j] * load_short(XT, (k, i, j))
        store(w, (i,), g)
        lowest = where_less(g, lowest, g, lowest)
    for i in range(len(w)):
        x = ONE + (lowest - load_short(w, (i,))) * scale
        x = where_less(x, LEAST_BASE, LEAST_BASE, x)
        for _ in range(SQUARINGS):
            x = x * x
        x = x - LEAST_EXP
        store(w, (i,), x)
        total = total + x
        value = value + x * load_short(costsT, (k, i))
    total = ONE / total
    value = value * total
    for i in range(len(w)):
        store(w, (i,), load_short(w, (i,)) * ((value - load_short(costsT, (k, i))) * total))


@exact
def add_gradient(XT, k, w, c, gradients):
    """gradients[c] += Xᵀw over the items, for every round of block k by itself: α ∇f̃(θ), [p, WIDE]."""
    for j in range(XT.shape[2]):
        slope = load_short(gradients, (c, j))
        for i in range(len(w)):
            slope = slope + load_short(XT, (k, i, j)) * load_short(w, (i,))
        store(gradients, (c, j), slope)


@inner
def length(vector):
    """‖v‖."""
    square = 0.0
    for j in range(len(vector)):
        square += vector[j] * vector[j]
    return np.sqrt(square)


@inner
def move(theta, slopes, slope, direction, momentum, rate, radius):
    """A step of that length against slope = Σ slopes [p, WIDE], scaled to 1, and earlier directions."""
    for j in range(len(theta)):
        slope[j] = 0.0
        for b in range(WIDE):
            slope[j] += slopes[j, b]
    shrink = 1.0 / max(length(slope), 1e-300)
    for j in range(len(theta)):
        direction[j] = momentum * direction[j] + shrink * slope[j]
    step = rate / max(length(direction), 1e-300)
    for j in range(len(theta)):
        theta[j] -= step * direction[j]
    shrink = radius / max(length(theta), radius)
    for j in range(len(theta)):
        theta[j] *= shrink


@kernel(void(f4[:, :, :, ::1], f4[:, :, ::1], i8, f8[::1], f8[::1], f8, f8, f8[:, ::1]))
def descend(XT, costsT, stride, alphas, rates, momentum, radius, thetas):
    """Moves the parameters `thetas` [C, m] by as many steps as there are rates, within the radius.

    Step s goes against the normalised mean gradient of rounds s, s + stride, …, packed by `side_by_side`.
    """
    blocks, items, features, _ = XT.shape
    w, gradients = np.empty((items, WIDE), SHORT), np.empty((len(thetas), features, WIDE), SHORT)
    rounded, direction = np.empty(thetas.shape, SHORT), np.zeros_like(thetas)
    slope = np.empty(features)
    for s in range(len(rates)):
        gradients[:] = ZERO
        rounded[:] = thetas
        scale = SHORT(1.0 / (alphas[s] * 2.0**SQUARINGS))
        for k in range(s % stride, blocks, stride):
            for c in range(len(thetas)):
                short_entropy_vjp(XT, costsT, k, rounded[c], scale, w)
                add_gradient(XT, k, w, c, gradients)
        for c in range(len(thetas)):
            move(thetas[c], gradients[c], slope, direction[c], momentum, rates[s], radius)
