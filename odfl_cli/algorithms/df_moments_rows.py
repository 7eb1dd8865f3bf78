"""Lines 2 to 10 of DF-Moments, compiled; all functions but the last two update one seed's state in place."""

from typing import NamedTuple

import numpy as np
from numba import b1, f8, i8, types, void

from odfl_cli.algorithms.df_moments import DFMomentsState
from odfl_cli.core.arrays import TINY
from odfl_cli.core.compiling import kernel, strict

POWER_STEPS = 2
"""Steps of line 8 in a round; u moves little between rounds, so that more are not needed."""

WIDTH_EXPONENT = -0.25
"""The exponent of t in h of line 9: slightly below the −1/5 that balances a difference quotient's bias
h² with its variance 1/(th), so that the noise dominates the bias in the sum."""

LIMIT_EXPONENT = 0.25
"""The exponent of N in the limit of line 2: eventually nothing with a finite variance is clipped, and
one item has little weight in sums whose noise grows as N^½."""


class Rules(NamedTuple):
    """The settings of DFMoments, and whether Σw is constant on the decision set."""

    fading: np.ndarray  # γ_j, [J]
    sizes: np.ndarray  # n_A, [2]
    errors: np.ndarray  # 1 + s √(2/n_A), [2]
    standard_errors: float
    curvature: bool
    refine: bool
    robust: bool
    centres: bool


class Seen(NamedTuple):
    """The statistics of a round, and the metric including this round."""

    d: int
    gram: np.ndarray  # DᵀD, [m, m]
    z: np.ndarray  # [m]
    Z: np.ndarray  # [m, m]
    scaled: np.ndarray  # Σ⁻¹Z, [m, m]
    squares: np.ndarray  # ‖z‖² and ‖Z‖², [2]
    sigma: np.ndarray  # Σ, [m, m]
    inverse: np.ndarray  # Σ⁻¹, [m, m]


VECTOR, MATRIX, CUBE, FOUR = f8[::1], f8[:, ::1], f8[:, :, ::1], f8[:, :, :, ::1]
RULES = types.NamedTuple((VECTOR, VECTOR, VECTOR, f8, b1, b1, b1, b1), Rules)
SHAPES = {"location": VECTOR, "pull_noise": VECTOR, "gram": FOUR, "second": FOUR}
SHAPES |= dict.fromkeys(("first", "noise", "kept"), CUBE)
STATE = types.NamedTuple(
    (i8, *(SHAPES.get(name, MATRIX) for name in DFMomentsState._fields[1:])), DFMomentsState
)


@strict
def add(x, keep, factor, y):
    """x = keep·x + factor·y in place, for vectors."""
    for i in range(len(x)):
        x[i] = keep * x[i] + factor * y[i]


@strict
def times(A, x):
    """A x."""
    out = np.zeros(A.shape[0])
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            out[i] += A[i, k] * x[k]
    return out


@strict
def weighted_gram(D, weights):
    """Dᵀ diag(weights) D, [m, m]."""
    out = np.zeros((D.shape[1], D.shape[1]))
    for i in range(D.shape[0]):
        for j in range(D.shape[1]):
            add(out[j], 1.0, weights[i] * D[i, j], D[i])
    return out


@strict
def product(A, B):
    """A B."""
    out = np.zeros(B.shape)
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            add(out[i], 1.0, A[i, j], B[j])
    return out


@strict
def ridge_inverse(S, N):
    """(S + (m/N) diag(S))⁻¹ by Gauss–Jordan elimination; 1 is added where a column is zero so far."""
    A, m = S.copy(), S.shape[0]
    for k in range(m):
        A[k, k] += A[k, k] * (m / N) if A[k, k] > 0.0 else 1.0
    for k in range(m):
        pivot = 1.0 / A[k, k]
        A[k, k] = 1.0
        add(A[k], pivot, 0.0, A[k])
        for i in range(m):
            if i != k:
                factor = A[i, k]
                A[i, k] = 0.0
                add(A[i], 1.0, -factor, A[k])
    return A


@strict
def square(A, x):
    """xᵀ A x."""
    return (x * times(A, x)).sum()


@strict
def trace_of_square(W):
    """tr(W²)."""
    total = 0.0
    for i in range(len(W)):
        for k in range(len(W)):
            total += W[i, k] * W[k, i]
    return total


@strict
def signal_share(noise, size):
    """(1 − noise/size)₊: the share of a squared norm that noise does not explain."""
    return max((size - noise) / max(size, TINY), 0.0)


@strict
def normalise(sigma, u):
    """u / √(uᵀΣu); 0 stays 0."""
    return u / np.sqrt(max(square(sigma, u), TINY))


@strict
def centre(rules, D, y, state, s):
    """Line 2."""
    N = state.counts[s, 0] + len(y)
    if rules.centres:
        if state.t == 1:
            state.location[s] = median(y)
        y -= state.location[s]
    if rules.robust:
        clip(y, N, state.logs[s])
    if rules.centres:
        state.location[s] += y.sum() / N
        for j in range(D.shape[1]):
            if D[:, j].max() > D[:, j].min():
                state.varied[s, j] = 1.0
            state.column_mean[s, j] += (D[:, j] - state.column_mean[s, j]).sum() / N
            D[:, j] = (D[:, j] - state.column_mean[s, j]) * state.varied[s, j]


@strict
def median(values):
    """The upper median of the values; NaN if they are not numbers."""
    for value in values:
        smaller, equal = 0, 0
        for other in values:
            smaller += other < value
            equal += other == value
        if smaller <= len(values) // 2 < smaller + equal:
            return value
    return np.nan


@strict
def clip(y, N, logs):
    """The second half of line 2."""
    for value in y:
        if value != 0.0:
            logs[0] += np.log(abs(value))
            logs[1] += 1.0
    limit = N**LIMIT_EXPONENT * np.exp(logs[0] / max(logs[1], 1.0))
    for i in range(len(y)):
        y[i] = min(max(y[i], -limit), limit)


@strict
def take_statistics(rules, D, y, state, s):
    """Line 3."""
    d = len(y)
    r = y - times(D, state.b[s])
    middle = r.mean()
    r -= middle
    if rules.robust and rules.centres:
        state.shocks[s, 0] += middle * middle
        state.shocks[s, 1] += (r * r).sum() / (d * max(d - 1.0, 1.0))
        error = 1.0 + rules.standard_errors * np.sqrt(2.0 / state.t)
        y -= signal_share(error * state.shocks[s, 1], state.shocks[s, 0]) * middle
    gram = weighted_gram(D, np.ones(d))
    z, Z = times(D.T, y), weighted_gram(D, r if rules.curvature else 0.0 * r)
    N = state.counts[s, 0] + d
    sigma = (state.gram[s, 0] + gram) / N
    inverse = ridge_inverse(sigma, N)
    scaled = product(inverse, Z)
    squares = np.array([square(inverse, z), trace_of_square(scaled)])
    return Seen(d, gram, z, Z, scaled, squares, sigma, inverse)


@strict
def weigh_memories(rules, seen, scaled, state, s):
    """Line 4, with `scaled` the Σ⁻¹M_j, [J, m, m]."""
    counts, omega = state.counts[s], state.omega[s]
    usual = (state.noise[s, 0] + seen.squares) * (seen.d / (counts[0] + seen.d))
    score = np.empty(len(counts))
    for j in range(len(counts)):
        share = state.kept[s, j] * (seen.d / counts[j])
        z = square(seen.inverse, seen.z - share[0] * state.first[s, j])
        Z = trace_of_square(seen.scaled - share[1] * scaled[j])
        score[j] = 0.5 * (
            z * rules.sizes[0] / max(usual[0], TINY) + Z * rules.sizes[1] / max(usual[1], TINY)
        )
    omega *= np.exp(score.min() - score)
    omega *= (1.0 - 1.0 / state.t) / omega.sum()
    omega += 1.0 / (state.t * len(counts))


@strict
def remember_and_shrink(rules, seen, scaled, state, s):
    """Lines 5 and 6; `scaled` becomes Σ⁻¹M_j including this round."""
    for j in range(len(scaled)):
        gamma = rules.fading[j]
        state.counts[s, j] = gamma * state.counts[s, j] + seen.d
        state.first[s, j] = gamma * state.first[s, j] + seen.z
        state.gram[s, j] = gamma * state.gram[s, j] + seen.gram
        state.second[s, j] = gamma * state.second[s, j] + seen.Z
        state.noise[s, j] = gamma * gamma * state.noise[s, j] + seen.squares
        scaled[j] = gamma * scaled[j] + seen.scaled
        noise = rules.errors * state.noise[s, j]
        size = square(seen.inverse, state.first[s, j])
        state.kept[s, j, 0] = max(signal_share(noise[0], size), 1.0 / state.counts[s, j])
        state.kept[s, j, 1] = signal_share(noise[1], trace_of_square(scaled[j]))


@strict
def turn(seen, scaled, state, s):
    """Lines 7 and 8: b, and the direction u."""
    omega, kept, m = state.omega[s], state.kept[s], len(seen.z)
    N = (omega * state.counts[s]).sum()
    gram, B, first = np.zeros((m, m)), np.zeros((m, m)), np.zeros(m)
    for j in range(len(scaled)):
        gram += omega[j] * state.gram[s, j]
        B += (omega[j] * kept[j, 1] / N) * scaled[j]
        first += (omega[j] * kept[j, 0]) * state.first[s, j]
    b, u = times(ridge_inverse(gram, N), first), state.u[s]
    if (u * times(seen.sigma, b)).sum() < 0.0:
        u *= -1.0
    radius = np.sqrt(max(trace_of_square(B), 0.0))
    for _ in range(POWER_STEPS):
        u[:] = normalise(seen.sigma, b + radius * u - times(B, u))
    state.b[s] = b


@strict
def perturb(D, y, state, s):
    """g and h y of line 9, [d]."""
    g = times(D, state.v[s])
    state.spread[s, 0] += g.var()
    state.spread[s, 1] += y.var()
    h = np.sqrt(state.spread[s, 0] / max(state.spread[s, 1], TINY))
    return g, y * (h * state.t**WIDTH_EXPONENT)


@kernel(types.UniTuple(MATRIX, 2)(RULES, CUBE, MATRIX, b1[:, ::1], STATE, CUBE))
def learn(rules, designs, costs, offered, state, inverses):
    """Lines 2 to 8 for all seeds; returns g and h y of line 9, [S, d].

    `designs` [S, d, m] become the centred D, `inverses` [S, m, m] Σ⁻¹. Items not offered have NaN in g
    and zeros in D and y.
    """
    g, step = np.full(costs.shape, np.nan), np.zeros(costs.shape)
    for s in range(len(costs)):
        rows = np.flatnonzero(offered[s])
        D, y = designs[s][rows], costs[s][rows]
        centre(rules, D, y, state, s)  # 2
        seen = take_statistics(rules, D, y, state, s)  # 3
        scaled = np.empty_like(state.second[s])
        for j in range(len(scaled)):
            scaled[j] = product(seen.inverse, state.second[s, j])
        if state.t > 1:
            weigh_memories(rules, seen, scaled, state, s)  # 4
        remember_and_shrink(rules, seen, scaled, state, s)  # 5 and 6
        turn(seen, scaled, state, s)  # 7 and 8
        prediction, change = perturb(D, y, state, s)  # 9
        designs[s], inverses[s] = 0.0, seen.inverse
        for i in range(len(rows)):
            designs[s, rows[i]], g[s, rows[i]], step[s, rows[i]] = D[i], prediction[i], change[i]
    return g, step


@kernel(void(RULES, CUBE, MATRIX, CUBE, STATE))
def refine(rules, designs, changes, inverses, state):
    """Lines 9 and 10 without the projection, from the changes w(g + hy) − w(g − hy), [S, d]."""
    for s in range(len(changes)):
        inverse, sigma = inverses[s], state.gram[s, 0] / state.counts[s, 0]
        q = times(designs[s].T, changes[s])
        state.pull[s] += q
        state.pull_noise[s] += square(inverse, q)
        state.v[s] = state.u[s]
        if rules.refine:
            noise, pull = state.pull_noise[s], state.pull[s]
            share = signal_share(rules.errors[0] * noise, square(inverse, pull))
            length = share / np.sqrt(max(noise, TINY))
            state.v[s] = normalise(sigma, state.u[s] - length * times(inverse, pull))
