"""The projection onto bounds with at most one sum, compiled.

The nearest point of w₀ − g/α is clip(w₀ − g/α − τa, lower, upper), with τ = 0 where that keeps
Σ a_i w_i ≤ total.
"""

import numpy as np
from numba import b1, f8, types, void

from odfl_cli.core.compiling import inner, kernel
from odfl_cli.problem.regularizers.projection import ACTIVE, WeightedSum

MOST_STEPS = 200
VECTOR, ROWS = f8[::1], f8[:, ::1]
SUM = types.NamedTuple((VECTOR, VECTOR, VECTOR, f8, b1, VECTOR), WeightedSum)


@inner
def clip(x, low, high):
    """x, or the bound that it is beyond; NaN stays NaN."""
    if x < low:
        return low
    return high if x > high else x


@inner
def project(polytope, g, alpha, y, w):
    """w = the point nearest to w₀ − g/α; y is scratch."""
    lower, upper, a, centre = polytope.lower, polytope.upper, polytope.a, polytope.centre
    filled = 0.0
    for i in range(w.shape[0]):
        w[i] = clip(centre[i] - g[i] / alpha, lower[i], upper[i])
        filled += a[i] * w[i]
    if polytope.total == np.inf or (not polytope.equal and filled <= polytope.total):
        return
    first, last = np.inf, -np.inf
    for i in range(w.shape[0]):
        y[i] = g[i] / a[i]
        first = min(first, (centre[i] - upper[i]) / a[i])
        last = max(last, (centre[i] - lower[i]) / a[i])
    price = marginal(polytope, y)
    for i in range(w.shape[0]):
        # moved along a, as τ will be; beyond these limits it is at its bound for every first ≤ τ ≤ last
        moved = centre[i] + (price - y[i]) / alpha * a[i]
        y[i] = clip(moved, lower[i] + first * a[i], upper[i] + last * a[i])
    tau = multiplier(polytope, y)
    for i in range(w.shape[0]):
        w[i] = clip(y[i] - tau * a[i], lower[i], upper[i])


@inner
def marginal(polytope, price):
    """The price of the item that a greedy filling up to the total takes last."""
    lower, upper, a = polytope.lower, polytope.upper, polytope.a
    least, cheapest = 0.0, 0
    for i in range(price.shape[0]):
        least += a[i] * lower[i]
        if price[i] < price[cheapest]:
            cheapest = i
    if least + a[cheapest] * (upper[cheapest] - lower[cheapest]) >= polytope.total:
        return price[cheapest]  # always so on the simplex, which needs no sorting
    filled, last = least, cheapest
    for i in np.argsort(price, kind="mergesort"):
        last = i
        filled += a[i] * (upper[i] - lower[i])
        if filled >= polytope.total:
            break
    return price[last]


@inner
def multiplier(polytope, y):
    """τ with Σ a_i clip(y_i − τ a_i, lower_i, upper_i) = total.

    The sum falls with τ, linearly while no item arrives at a bound or leaves it. The line of one such
    piece is solved for τ; where that lies outside of the piece the next one is tried, and where it
    lies outside of the interval in which τ must be, the interval is halved.
    """
    lower, upper, a = polytope.lower, polytope.upper, polytope.a
    low, high, solved, size = np.inf, -np.inf, -polytope.total, 0.0
    for i in range(y.shape[0]):
        low = min(low, (y[i] - upper[i]) / a[i])
        high = max(high, (y[i] - lower[i]) / a[i])
        solved += a[i] * y[i]
        size += a[i] * a[i]
    tau, solved = np.inf, solved / size  # if every item were between its bounds
    for _ in range(MOST_STEPS):
        if solved == tau:
            break
        tau = solved if low < solved < high else low + (high - low) / 2
        if tau in (low, high):
            break
        excess, size = -polytope.total, 0.0
        for i in range(y.shape[0]):
            x = y[i] - tau * a[i]
            if x >= upper[i]:
                excess += a[i] * upper[i]
            elif x <= lower[i]:
                excess += a[i] * lower[i]
            else:
                excess += a[i] * y[i]
                size += a[i] * a[i]
        beyond = excess - tau * size
        if beyond == 0.0 or np.isnan(beyond):
            return tau + beyond
        if beyond > 0.0:
            low = tau
        else:
            high = tau
        solved = excess / size if size > 0.0 else np.inf
    return tau


@inner
def tangent(polytope, w, v, out):
    """out = v on the items between their bounds, less its part along a if the sum binds."""
    lower, upper, a, total = polytope.lower, polytope.upper, polytope.a, polytope.total
    # the first item's share of a is taken off before: equal costs give exactly zero
    share, along, size, slack = v[0] / a[0], 0.0, 0.0, total
    for i in range(w.shape[0]):
        margin = ACTIVE * max(1.0, abs(lower[i]), abs(upper[i]))
        out[i] = 1.0 if w[i] - lower[i] > margin and upper[i] - w[i] > margin else 0.0
        along += out[i] * a[i] * (v[i] - share * a[i])
        size += out[i] * a[i] * a[i]
        slack -= a[i] * w[i]
    along = along / size if size > 0.0 else 0.0
    if total == np.inf or not (polytope.equal or slack <= ACTIVE * max(1.0, abs(total))):
        share, along = 0.0, 0.0
    for i in range(w.shape[0]):
        out[i] *= v[i] - share * a[i] - along * a[i]


@kernel(void(SUM, ROWS, ROWS, ROWS))
def project_rows(polytope, g, alpha, w):
    """w = the points nearest to w₀ − g/α, for g [N, d] and α [N, 1]."""
    scratch = np.empty(g.shape[1])
    for row in range(g.shape[0]):
        project(polytope, g[row], alpha[row, 0], scratch, w[row])


@kernel(void(SUM, ROWS, ROWS, ROWS))
def tangent_rows(polytope, w, v, out):
    """out = v [N, d] projected onto the directions in which w can move."""
    for row in range(w.shape[0]):
        tangent(polytope, w[row], v[row], out[row])
