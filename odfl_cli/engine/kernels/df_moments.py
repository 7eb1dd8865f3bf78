"""DF-Moments, compiled; see odfl_cli.algorithms.df_moments, whose lines are numbered alike."""

from typing import NamedTuple

import numpy as np
from numba import b1, f8, i8, types, void

from odfl_cli.algorithms.df_moments import (
    POWER_STEPS,
    TINY,
    WIDTH_EXPONENT,
    DFMoments,
    DFMomentsState,
)
from odfl_cli.core.compiling import inner, kernel
from odfl_cli.engine.base import Play, Trace
from odfl_cli.engine.kernels.matrices import (
    invert,
    product,
    quadratic_form,
    solve,
    times,
    trace_of_square,
)
from odfl_cli.engine.kernels.steps import PLAYED, cheapest, decide, project, rows_of
from odfl_cli.environments import Rounds
from odfl_cli.problem.regularizers.newton import copy, dot


class Rules(NamedTuple):
    """The settings of DFMoments, and what its problem decides."""

    fading: np.ndarray  # γ_j, [J]
    sizes: np.ndarray  # n_A, [2]
    errors: np.ndarray  # 1 + s √(2/n_A), [2]
    curvature: bool
    refine: bool
    radius: float  # of Θ


class Space(NamedTuple):
    """Arrays that the lines share."""

    g: np.ndarray  # [d], as those up to y
    push: np.ndarray
    r: np.ndarray
    y: np.ndarray  # centred costs
    columns: np.ndarray  # centred Xᵀ, [m, d]
    weighted: np.ndarray  # the same times r
    z: np.ndarray  # [m], as those up to q
    x: np.ndarray
    q: np.ndarray
    gram: np.ndarray  # XᵀX, [m, m], as those up to solving
    Z: np.ndarray
    sigma: np.ndarray
    inverse: np.ndarray
    seen: np.ndarray  # Σ⁻¹Z
    B: np.ndarray
    solving: np.ndarray
    told: np.ndarray  # Σ⁻¹M_j, [J, m, m]
    squares: np.ndarray  # ‖z‖², ‖Z‖²
    score: np.ndarray  # [J]


VECTOR, MATRIX, CUBE = f8[::1], f8[:, ::1], f8[:, :, ::1]
RULES = types.NamedTuple((VECTOR, VECTOR, VECTOR, b1, b1, f8), Rules)
SUMS = types.NamedTuple(
    (i8, *[VECTOR] * 5, CUBE, MATRIX, CUBE, VECTOR, MATRIX, MATRIX, *[VECTOR] * 6),
    DFMomentsState,
)
"""The state of one seed before the block, whose arrays are filled in place; numbers but t are [1]."""


@inner
def mean(values):
    """Σ v / n."""
    total = 0.0
    for value in values:
        total += value
    return total / values.shape[0]


@inner
def variance(values):
    """Σ (v − v̄)² / n."""
    middle, squares = mean(values), 0.0
    for value in values:
        squares += (value - middle) ** 2
    return squares / values.shape[0]


@inner
def add_ridge(S, N):
    """S + (m/N) diag(S) in place; 1 where a column is zero so far."""
    m = S.shape[0]
    for i in range(m):
        S[i, i] += S[i, i] * (m / N) if S[i, i] > 0.0 else 1.0


@inner
def signal_share(noise, size):
    """(1 − noise/size)₊."""
    return max((size - noise) / max(size, TINY), 0.0)


@inner
def normalise(sigma, u):
    """u / √(uᵀΣu) in place."""
    length = np.sqrt(max(quadratic_form(sigma, u), TINY))
    for i in range(u.shape[0]):
        u[i] /= length


@inner
def perturb(X, costs, t, sums, space):
    """Line 9: push = w(g + hc) − w(g − hc)."""
    g, push, shifted = space.g, space.push, space.r
    times(X, sums.v, g)
    sums.spread[0] += variance(g)
    sums.spread[1] += variance(costs)
    h = t**WIDTH_EXPONENT * np.sqrt(sums.spread[0] / max(sums.spread[1], TINY))
    for i in range(g.shape[0]):
        shifted[i] = g[i] + h * costs[i]
        g[i] -= h * costs[i]
    push[:] = 0.0
    push[cheapest(shifted)] += 1.0
    push[cheapest(g)] -= 1.0


@inner
def centre(X, costs, t, sums, space):
    """Line 2: the columns and costs that the statistics are made of."""
    columns, y = space.columns, space.y
    for i in range(X.shape[0]):
        y[i] = costs[i]
        for q in range(X.shape[1]):
            columns[q, i] = X[i, q]
    sums.cost_mean[0] += (mean(y) - sums.cost_mean[0]) / t
    for i in range(y.shape[0]):
        y[i] -= sums.cost_mean[0]
    for q in range(columns.shape[0]):
        column = columns[q]
        for i in range(column.shape[0]):
            if column[i] != column[0]:
                sums.varied[q] = 1.0
        sums.column_mean[q] += (mean(column) - sums.column_mean[q]) / t
        for i in range(column.shape[0]):
            column[i] = (column[i] - sums.column_mean[q]) * sums.varied[q]


@inner
def take_statistics(rules, sums, space):
    """Line 3: z, Z, XᵀX and the metric with this round in it."""
    columns, r = space.columns, space.r
    m, d = columns.shape
    copy(space.y, r)
    for q in range(m):
        for i in range(d):
            r[i] -= columns[q, i] * sums.b[q]
    middle = mean(r)
    for q in range(m):
        for i in range(d):
            space.weighted[q, i] = columns[q, i] * (r[i] - middle)
    N = sums.counts[0] + d
    for q in range(m):
        space.z[q] = dot(columns[q], space.y)
        for k in range(q + 1):
            gram = dot(columns[q], columns[k])
            Z = dot(space.weighted[q], columns[k]) if rules.curvature else 0.0
            space.gram[q, k], space.gram[k, q] = gram, gram
            space.Z[q, k], space.Z[k, q] = Z, Z
            sigma = (sums.gram[0, q, k] + gram) / N
            space.sigma[q, k], space.sigma[k, q] = sigma, sigma
            space.inverse[q, k], space.inverse[k, q] = sigma, sigma
    add_ridge(space.inverse, N)
    invert(space.inverse)
    product(space.inverse, space.Z, space.seen)
    space.squares[0] = quadratic_form(space.inverse, space.z)
    space.squares[1] = trace_of_square(space.seen)


@inner
def weigh_memories(t, rules, sums, space):
    """Line 4; leaves Σ⁻¹M_j in `told`."""
    d, J = space.y.shape[0], sums.counts.shape[0]
    for j in range(J):
        product(space.inverse, sums.second[j], space.told[j])
    if t == 1:
        return
    usual_z = (sums.noise[0, 0] + space.squares[0]) / (t * d * d)
    usual_Z = (sums.noise[0, 1] + space.squares[1]) / (t * d * d)
    best = -np.inf
    for j in range(J):
        one, two = sums.kept[j, 0] / sums.counts[j], sums.kept[j, 1] / sums.counts[j]
        for q in range(space.x.shape[0]):
            space.x[q] = space.z[q] / d - one * sums.first[j, q]
            for k in range(space.x.shape[0]):
                space.B[q, k] = space.seen[q, k] / d - two * space.told[j, q, k]
        missed_z = quadratic_form(space.inverse, space.x) * (rules.sizes[0] / max(usual_z, TINY))
        missed_Z = trace_of_square(space.B) * (rules.sizes[1] / max(usual_Z, TINY))
        space.score[j] = -0.5 * (missed_z + missed_Z)
        best = max(best, space.score[j])
    total = 0.0
    for j in range(J):
        sums.omega[j] *= np.exp(space.score[j] - best)
        total += sums.omega[j]
    for j in range(J):
        sums.omega[j] = (1.0 - 1.0 / t) * sums.omega[j] / total + 1.0 / t / J


@inner
def remember_and_shrink(rules, sums, space):
    """Lines 5 and 6."""
    d, m = space.y.shape[0], space.z.shape[0]
    for j in range(sums.counts.shape[0]):
        gamma = rules.fading[j]
        sums.counts[j] = gamma * sums.counts[j] + d
        for q in range(m):
            sums.first[j, q] = gamma * sums.first[j, q] + space.z[q]
            for k in range(m):
                sums.gram[j, q, k] = gamma * sums.gram[j, q, k] + space.gram[q, k]
                sums.second[j, q, k] = gamma * sums.second[j, q, k] + space.Z[q, k]
                space.told[j, q, k] = gamma * space.told[j, q, k] + space.seen[q, k]
        for a in range(2):
            sums.noise[j, a] = gamma * gamma * sums.noise[j, a] + space.squares[a]
        size = quadratic_form(space.inverse, sums.first[j])
        kept = signal_share(rules.errors[0] * sums.noise[j, 0], size)
        sums.kept[j, 0] = max(kept, 1.0 / sums.counts[j])
        size = trace_of_square(space.told[j])
        sums.kept[j, 1] = signal_share(rules.errors[1] * sums.noise[j, 1], size)


@inner
def combine(sums, space):
    """Line 7: b and B."""
    m, N = space.z.shape[0], dot(sums.omega, sums.counts)
    space.solving[:] = 0.0
    sums.b[:] = 0.0
    space.B[:] = 0.0
    for j in range(sums.counts.shape[0]):
        omega = sums.omega[j]
        one, two = omega * sums.kept[j, 0], omega * sums.kept[j, 1] / N
        for q in range(m):
            sums.b[q] += one * sums.first[j, q]
            for k in range(m):
                space.solving[q, k] += omega * sums.gram[j, q, k]
                space.B[q, k] += two * space.told[j, q, k]
    add_ridge(space.solving, N)
    solve(space.solving, sums.b)


@inner
def turn(sums, space):
    """Line 8: the direction u."""
    u, x = sums.u, space.x
    times(space.sigma, sums.b, x)
    sign = -1.0 if dot(u, x) < 0.0 else 1.0
    radius = np.sqrt(max(trace_of_square(space.B), 0.0))
    for q in range(u.shape[0]):
        u[q] *= sign
    for _ in range(POWER_STEPS):
        times(space.B, u, x)
        for q in range(u.shape[0]):
            u[q] = sums.b[q] + radius * u[q] - x[q]
        normalise(space.sigma, u)


@inner
def refine(rules, sums, space):
    """Lines 9 and 10: θ before it is projected on Θ."""
    q, v = space.q, sums.v
    times(space.columns, space.push, q)
    sums.pull_noise[0] += quadratic_form(space.inverse, q)
    for i in range(q.shape[0]):
        sums.pull[i] += q[i]
        v[i] = sums.u[i]
    if not rules.refine:
        return
    size = quadratic_form(space.inverse, sums.pull)
    kept = signal_share(rules.errors[0] * sums.pull_noise[0], size)
    length = kept / np.sqrt(max(sums.pull_noise[0], TINY))
    times(space.inverse, sums.pull, q)
    for i in range(q.shape[0]):
        v[i] -= length * q[i]
    normalise(space.sigma, v)


@kernel(void(RULES, CUBE, MATRIX, SUMS, PLAYED))
def play(rules, X, costs, sums, played):
    """A block of rounds of one seed: X [B, d, m], costs [B, d]."""
    d, m, J = X.shape[1], X.shape[2], sums.counts.shape[0]
    space = Space(
        np.empty(d), np.empty(d), np.empty(d), np.empty(d),
        np.empty((m, d)), np.empty((m, d)), np.empty(m), np.empty(m), np.empty(m),
        np.empty((m, m)), np.empty((m, m)), np.empty((m, m)), np.empty((m, m)),
        np.empty((m, m)), np.empty((m, m)), np.empty((m, m)), np.empty((J, m, m)),
        np.empty(2), np.empty(J),
    )  # fmt: skip
    for i in range(costs.shape[0]):
        t = sums.t + i + 1
        decide(X, costs, i, sums.theta, space.g, played)  # 1
        perturb(X[i], costs[i], t, sums, space)  # 9 needs X and c as they came
        centre(X[i], costs[i], t, sums, space)  # 2
        take_statistics(rules, sums, space)  # 3
        weigh_memories(t, rules, sums, space)  # 4
        remember_and_shrink(rules, sums, space)  # 5 and 6
        combine(sums, space)  # 7
        turn(sums, space)  # 8
        refine(rules, sums, space)  # 9 and 10
        copy(sums.v, sums.theta)
        project(sums.theta, rules.radius)


def prepare(
    algorithm: DFMoments,
    state: DFMomentsState,
    rounds: Rounds,
    draws: dict[str, np.ndarray],
    trace: Trace,
) -> tuple[DFMomentsState, Play]:
    """The state after the block, and what fills it for seed number s."""
    rules = Rules(
        algorithm.fading,
        algorithm.sizes,
        algorithm.errors,
        algorithm.curvature,
        algorithm.refine,
        algorithm.problem.theta_set.radius,
    )
    filled = {name: values.copy() for name, values in state._asdict().items() if name != "t"}

    def play_seed(s: int) -> None:
        arrays = [np.atleast_1d(values[s]).copy() for values in filled.values()]
        sums = DFMomentsState(state.t, *arrays)
        play(rules, rounds.X[s], rounds.costs[s], sums, rows_of(trace, s))
        for values, after in zip(filled.values(), arrays, strict=True):
            values[s] = after if values.ndim > 1 else after[0]

    return state._replace(t=state.t + rounds.costs.shape[1], **filled), play_seed
