"""The exact minimum of realised costs along a line of parameters: the linear model on the simplex, compiled.

On the line θ + s·d the prediction of every item is a line in s, and the item that is played is the
lowest of K lines: a concave envelope. Between its corners, over all rounds, the cost is constant.
"""

import numpy as np
from numba import f8, i8, types, void

from odfl_cli.core.compiling import exact, inner, kernel

NARROW = 1e-12
"""A piece of the line that is no longer than this, relative to its place, may be rounding alone."""


@inner
def predict_both(X, theta, direction, level, slope):
    """level = Xθ and slope = Xd, [d], of one round."""
    for i in range(X.shape[0]):
        one, other = 0.0, 0.0
        for j in range(X.shape[1]):
            one += X[i, j] * theta[j]
            other += X[i, j] * direction[j]
        level[i] = one
        slope[i] = other


@exact
def lowest_line(level, slope, s):
    """The item played at s; at ±∞ the steepest or flattest line, the lowest of equally steep ones."""
    best, infinite = 0, abs(s) == np.inf
    sign = 1.0 if s > 0 else -1.0
    for i in range(1, len(level)):
        if infinite:
            difference = sign * (slope[i] - slope[best])
            if difference < 0 or (difference == 0 and level[i] < level[best]):
                best = i
        elif level[i] + s * slope[i] < level[best] + s * slope[best]:
            best = i
    return best


@inner
def next_crossing(level, slope, i, crossing):
    """The first s at which a line that is less steep crosses line i, ∞ if none is; all in `crossing`."""
    own_level, own_slope, nearest = level[i], slope[i], np.inf
    for k in range(len(level)):
        slower = own_slope - slope[k]
        crossing[k] = (level[k] - own_level) / slower if slower > 0.0 else np.inf
    for k in range(len(level)):
        nearest = min(nearest, crossing[k])
    return nearest


@exact
def add_corners(level, slope, cost, reach, crossing, at, jump, count):
    """Appends where the item that is played changes as s goes from −reach to reach, and the cost with it.

    The envelope is concave: a line that is lowest at both ends is so in between. Of several lines
    that cross the present one in one point, the envelope follows the least steep.
    Returns (cost at −reach, count).
    """
    i, last = lowest_line(level, slope, -reach), lowest_line(level, slope, reach)
    start = cost[i]
    while i != last:
        nearest = next_crossing(level, slope, i, crossing)
        if nearest >= reach:
            break
        following = -1
        for k in range(len(level)):
            if crossing[k] == nearest and (following < 0 or slope[k] < slope[following]):
                following = k
        at[count] = nearest
        jump[count] = cost[following] - cost[i]
        count += 1
        i = following
    return start, count


@exact
def sort_corners(at, bucket, first, order):
    """order[r] = the r-th smallest of `at`: counted into buckets, evenly in angle, then by insertion."""
    buckets = len(first)
    first[:] = 0
    for q in range(len(at)):
        share = 0.5 + 0.5 * at[q] / (1.0 + abs(at[q]))
        bucket[q] = min(int(share * buckets), buckets - 1)
        first[bucket[q]] += 1
    for k in range(1, buckets):
        first[k] += first[k - 1]
    for q in range(len(at) - 1, -1, -1):
        first[bucket[q]] -= 1
        order[first[bucket[q]]] = q
    for r in range(1, len(at)):
        q, place = order[r], r
        while place > 0 and at[order[place - 1]] > at[q]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = q


@exact
def middle(here, there):
    """A point between two places, of which one may be infinite."""
    if here == -np.inf:
        return there - 1.0 - abs(there)
    return here + 1.0 + abs(here) if there == np.inf else 0.5 * (here + there)


@exact
def lowest_piece(start, at, jump, order, reach):
    """(the smallest total cost, an s in the middle of the piece of the line that has it)."""
    count = len(at)
    if count == 0:
        return start, 0.0
    total, best, s = start, start, middle(-reach, at[order[0]])
    for r in range(count):
        total += jump[order[r]]
        here = at[order[r]]
        there = at[order[r + 1]] if r + 1 < count else reach
        if total < best and there - here > NARROW * (1.0 + abs(here)):
            best, s = total, middle(here, there)
    return best, s


@kernel(types.UniTuple(f8, 2)(f8[:, :, ::1], f8[:, ::1], f8[::1], f8[::1], f8))
def lowest_on_line(X, costs, theta, direction, reach):
    """(min_s Σ_n f_n(θ + s·d), an s that attains it): X [N, d, p], costs [N, d]; |s| ≤ reach ≤ ∞."""
    rounds, items = costs.shape
    level, slope, crossing = np.empty(items), np.empty(items), np.empty(items)
    at, jump = np.empty(rounds * (items - 1)), np.empty(rounds * (items - 1))
    total, count = 0.0, 0
    for n in range(rounds):
        predict_both(X[n], theta, direction, level, slope)
        start, count = add_corners(level, slope, costs[n], reach, crossing, at, jump, count)
        total += start
    bucket, order = np.empty(count, np.int64), np.empty(count, np.int64)
    first = np.empty(max(1, count), np.int64)
    sort_corners(at[:count], bucket, first, order)
    return lowest_piece(total, at[:count], jump[:count], order, reach)


@inner
def centre(X, costs, x, c, first):
    """The items' features less their means as columns of x [p, ·] from `first` on, and costs likewise in c."""
    items, features = X.shape
    for j in range(features):
        mean = 0.0
        for i in range(items):
            mean += X[i, j] / items
        for i in range(items):
            x[j, first + i] = X[i, j] - mean
    mean = 0.0
    for i in range(items):
        mean += costs[i] / items
    for i in range(items):
        c[first + i] = costs[i] - mean


@inner
def products(a, b, x):
    """(⟨a, x⟩, ⟨b, x⟩)."""
    one, other = 0.0, 0.0
    for n in range(len(x)):
        one += a[n] * x[n]
        other += b[n] * x[n]
    return one, other


@kernel(void(f8[:, :, ::1], f8[:, ::1], i8, f8[:, ::1], f8[:, ::1], f8[::1]))
def moments(X, costs, stride, S, M, m):
    """S = Σ x xᵀ, M = Σ c x xᵀ (lower triangles) and m = Σ c x over the items of every `stride`-th round.

    x and c are less their means over the items of the round, which decide nothing on the simplex.
    """
    items, features = X.shape[1:]
    size = -(-len(costs) // stride) * items
    x, c, weighted = np.empty((features, size)), np.empty(size), np.empty(size)
    for n in range(0, len(costs), stride):
        centre(X[n], costs[n], x, c, n // stride * items)
    for j in range(features):
        for r in range(size):
            weighted[r] = c[r] * x[j, r]
        m[j], _ = products(c, c, x[j])
        for k in range(j + 1):
            S[j, k], M[j, k] = products(x[j], weighted, x[k])
