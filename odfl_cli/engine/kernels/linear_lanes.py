"""The paper's problem (linear model, simplex, entropy) with registers for numbers.

Where a register holds different parameters of one problem, X and the costs are plain floats.
"""

import numpy as np

from odfl_cli.core.compiling import exact
from odfl_cli.core.lanes import any_less, load, root, spread, store, where_less
from odfl_cli.engine.kernels.exponential import exp


@exact
def product(X, first, step, v):
    """Σ_k X[first + k·step] v[k]; four at a time, because a sum waits for the one before."""
    fours, total = v.shape[0] // 4 * 4, spread(0.0)
    for k in range(0, fours, 4):
        at = first + k * step
        one = load(X, (at,)) * load(v, (k,)) + load(X, (at + step,)) * load(v, (k + 1,))
        at += 2 * step
        other = load(X, (at,)) * load(v, (k + 2,)) + load(X, (at + step,)) * load(v, (k + 3,))
        total = total + (one + other)
    for k in range(fours, v.shape[0]):
        total = total + load(X, (first + k * step,)) * load(v, (k,))
    return total


@exact
def predict(X, theta, g):
    """g = Xθ for θ [p] and g [d] of registers, X [d·p] of registers or floats."""
    for i in range(g.shape[0]):
        store(g, (i,), product(X, i * theta.shape[0], 1, theta))


@exact
def played(g, costs):
    """(the cost of the item with the least prediction, the first of equals, and the mean squared error)."""
    lowest, squares = load(g, (0,)), spread(0.0)
    cost = squares + load(costs, (0,))
    for i in range(g.shape[0]):
        guess, truth = load(g, (i,)), load(costs, (i,))
        error = guess - truth
        squares = squares + error * error
        cost = where_less(guess, lowest, truth, cost)
        lowest = where_less(guess, lowest, guess, lowest)
    return cost, squares / float(g.shape[0])


@exact
def entropy_vjp(w, sharpness, costs):
    """w = −(1/α) w̃ ∘ (c − f̃) in place of g, with w̃ = softmax(−g/α) and f̃ = ⟨c, w̃⟩; sharpness = 1/α."""
    lowest, first = load(w, (0,)), load(costs, (0,))
    for i in range(1, w.shape[0]):
        lowest = where_less(load(w, (i,)), lowest, load(w, (i,)), lowest)
    total, value = spread(0.0), spread(0.0)
    for i in range(w.shape[0]):
        weight = exp((lowest - load(w, (i,))) * sharpness)
        total = total + weight
        value = value + weight * (load(costs, (i,)) - first)
        store(w, (i,), weight)
    value, scale = value / total, sharpness / total
    for i in range(w.shape[0]):
        store(w, (i,), load(w, (i,)) * ((value - (load(costs, (i,)) - first)) * scale))


@exact
def descend(X, costs, at, sharpness, rate, radius, w, theta):
    """θ = Π_Θ(θ − rate·∇f̃(at)) in place; w [d] is scratch."""
    p = theta.shape[0]
    predict(X, at, w)
    entropy_vjp(w, sharpness, costs)
    square = spread(0.0)
    for j in range(p):
        moved = load(theta, (j,)) - rate * product(X, j, p, w)
        square = square + moved * moved
        store(theta, (j,), moved)
    if any_less(radius * radius, square):
        inside = where_less(square, np.inf, radius / root(square), np.nan)
        scale = where_less(radius * radius, square, inside, 1.0)
        for j in range(p):
            store(theta, (j,), load(theta, (j,)) * scale)
