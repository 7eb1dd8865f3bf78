"""The paper's problem (linear model, simplex, entropy), for one case (floats) or four (registers)."""

import numpy as np

from odfl_cli.core.compiling import exact, inner
from odfl_cli.core.lanes import any_less, load, root, store, where_less, zero_like
from odfl_cli.engine.kernels.exponential import exp


@exact
def product(X, first, step, v):
    """Σ_k X[first + k·step] v[k]; four at a time, because a sum waits for the one before."""
    fours, total = v.shape[0] // 4 * 4, zero_like(v)
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
    """g = Xθ for θ [p], X [d·p] and g [d]."""
    for i in range(g.shape[0]):
        store(g, (i,), product(X, i * theta.shape[0], 1, theta))


@exact
def played(g, costs):
    """The item with the least prediction, the first of equals, its cost, and the mean squared error."""
    lowest, cost, squares = load(g, (0,)), load(costs, (0,)), zero_like(g)
    item, number = zero_like(g), zero_like(g)
    for i in range(g.shape[0]):
        guess, truth = load(g, (i,)), load(costs, (i,))
        error = guess - truth
        squares = squares + error * error
        cost = where_less(guess, lowest, truth, cost)
        item = where_less(guess, lowest, number, item)
        number = number + 1.0
        lowest = where_less(guess, lowest, guess, lowest)
    return item, cost, squares / float(g.shape[0])


@inner
def entropy_vjp(w, sharpness, costs):
    """w = −(1/α) w̃ ∘ (c − f̃) in place of g, with w̃ = softmax(−g/α) and f̃ = ⟨c, w̃⟩; sharpness = 1/α.

    The softmax is shifted by its largest exponent and normalised last; the first item's cost is
    subtracted from all, so that equal costs give exactly zero.
    """
    lowest, first = load(w, (0,)), load(costs, (0,))
    for i in range(1, w.shape[0]):
        lowest = where_less(load(w, (i,)), lowest, load(w, (i,)), lowest)
    total, value = zero_like(w), zero_like(w)
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
    square = zero_like(theta)
    for j in range(p):
        moved = load(theta, (j,)) - rate * product(X, j, p, w)
        square = square + moved * moved
        store(theta, (j,), moved)
    if any_less(radius * radius, square):
        inside = where_less(square, np.inf, radius / root(square), np.nan)
        scale = where_less(radius * radius, square, inside, 1.0)
        for j in range(p):
            store(theta, (j,), load(theta, (j,)) * scale)
