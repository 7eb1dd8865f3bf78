"""DF-Moments, compiled; see odfl_cli.algorithms.df_moments, whose lines are numbered alike."""

from typing import NamedTuple

import numpy as np
from numba import b1, f8, i8, types, void

from odfl_cli.algorithms.df_moments import (
    LIMIT_EXPONENT,
    POWER_STEPS,
    TINY,
    WIDTH_EXPONENT,
    DFMoments,
    DFMomentsState,
)
from odfl_cli.core.compiling import inner, kernel
from odfl_cli.engine.base import Draws, Play, Trace
from odfl_cli.engine.kernels.matrices import (
    blend,
    blend_rows,
    copy,
    dot,
    invert,
    product,
    quadratic_form,
    solve,
    symmetric_product,
    times,
    trace_of_square,
)
from odfl_cli.engine.kernels.steps import (
    CUBE,
    MATRIX,
    RECORD,
    VECTOR,
    cheapest,
    decide,
    each_seed,
    project,
    record_of,
)
from odfl_cli.environments.base import Rounds


class Rules(NamedTuple):
    """The settings of DFMoments, and what its problem decides."""

    fading: np.ndarray  # γ_j, [J]
    sizes: np.ndarray  # n_A, [2]
    errors: np.ndarray  # 1 + s √(2/n_A), [2]
    standard_errors: float
    curvature: bool
    refine: bool
    robust: bool
    radius: float  # of Θ


class Seen(NamedTuple):
    """The statistics of a round, and the metric with this round in it."""

    columns: np.ndarray  # centred Xᵀ, [m, d]
    z: np.ndarray  # [m]
    gram: np.ndarray  # XᵀX, [m, m]
    Z: np.ndarray  # [m, m]
    sigma: np.ndarray  # Σ, [m, m]
    inverse: np.ndarray  # Σ⁻¹, [m, m]
    scaled: np.ndarray  # Σ⁻¹Z, [m, m]
    squares: tuple[float, float]  # ‖z‖², ‖Z‖²


RULES = types.NamedTuple((VECTOR, VECTOR, VECTOR, f8, b1, b1, b1, f8), Rules)
STATE = types.NamedTuple(
    (i8, *[VECTOR] * 7, CUBE, MATRIX, CUBE, VECTOR, MATRIX, MATRIX, *[VECTOR] * 6),
    DFMomentsState,
)


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
def centre(X, costs, t, rules, state, columns, y):
    """Line 2: the columns of X, [m, d], and the costs that the statistics are computed from."""
    d, N = costs.shape[0], state.counts[0] + costs.shape[0]
    if t == 1:
        state.location[0] = np.sort(costs)[d // 2]
    for i in range(d):
        y[i] = costs[i] - state.location[0]
        for q in range(X.shape[1]):
            columns[q, i] = X[i, q]
    if rules.robust:
        clip(y, N, state.logs)
    state.location[0] += mean(y) * d / N
    for q in range(X.shape[1]):
        column = columns[q]
        for i in range(d):
            if column[i] != column[0]:
                state.varied[q] = 1.0
        state.column_mean[q] += (mean(column) - state.column_mean[q]) * d / N
        for i in range(d):
            column[i] = (column[i] - state.column_mean[q]) * state.varied[q]


@inner
def clip(y, N, logs):
    """The second half of line 2."""
    for value in y:
        if value != 0.0:
            logs[0] += np.log(abs(value))
            logs[1] += 1.0
    limit = N**LIMIT_EXPONENT * np.exp(logs[0] / max(logs[1], 1.0))
    for i in range(y.shape[0]):
        y[i] = min(max(y[i], -limit), limit)


@inner
def find_shock(r, t, rules, shocks):
    """ρ r̄ of line 3."""
    middle = mean(r)
    shocks[0] += middle * middle
    shocks[1] += variance(r) / max(r.shape[0] - 1.0, 1.0)
    error = 1.0 + rules.standard_errors * np.sqrt(2.0 / t)
    return signal_share(error * shocks[1], shocks[0]) * middle


@inner
def take_statistics(t, rules, columns, y, state):
    """Line 3."""
    m, d = columns.shape
    N, r, weighted = state.counts[0] + d, y.copy(), np.empty((m, d))
    for q in range(m):
        blend(r, 1.0, -state.b[q], columns[q])
    middle = mean(r)
    if rules.robust:
        y -= find_shock(r, t, rules, state.shocks)
    for q in range(m):
        for i in range(d):
            weighted[q, i] = columns[q, i] * (r[i] - middle) if rules.curvature else 0.0
    gram, Z = symmetric_product(columns, columns), symmetric_product(weighted, columns)
    sigma = state.gram[0].copy()
    blend_rows(sigma, 1.0 / N, 1.0 / N, gram)
    inverse = sigma.copy()
    add_ridge(inverse, N)
    invert(inverse)
    z, scaled = times(columns, y, np.empty(m)), product(inverse, Z)
    squares = quadratic_form(inverse, z), trace_of_square(scaled)
    return Seen(columns, z, gram, Z, sigma, inverse, scaled, squares)


@inner
def weigh_memories(t, rules, seen, scaled, state):
    """Line 4, with `scaled` the Σ⁻¹M_j, [J, m, m]."""
    d, J = seen.columns.shape[1], state.counts.shape[0]
    share = d / (state.counts[0] + d)
    usual_z = max((state.noise[0, 0] + seen.squares[0]) * share, TINY)
    usual_Z = max((state.noise[0, 1] + seen.squares[1]) * share, TINY)
    score, best, total = np.empty(J), np.inf, 0.0
    for j in range(J):
        z, Z = state.first[j].copy(), scaled[j].copy()
        blend(z, -state.kept[j, 0] * d / state.counts[j], 1.0, seen.z)
        blend_rows(Z, -state.kept[j, 1] * d / state.counts[j], 1.0, seen.scaled)
        missed_z = quadratic_form(seen.inverse, z) * (rules.sizes[0] / usual_z)
        score[j] = 0.5 * (missed_z + trace_of_square(Z) * (rules.sizes[1] / usual_Z))
        best = min(best, score[j])
    for j in range(J):
        state.omega[j] *= np.exp(best - score[j])
        total += state.omega[j]
    for j in range(J):
        state.omega[j] = (1.0 - 1.0 / t) * state.omega[j] / total + 1.0 / t / J


@inner
def remember_and_shrink(rules, seen, scaled, state):
    """Lines 5 and 6; `scaled` becomes Σ⁻¹M_j with this round in it."""
    for j in range(state.counts.shape[0]):
        gamma = rules.fading[j]
        state.counts[j] = gamma * state.counts[j] + seen.columns.shape[1]
        blend(state.first[j], gamma, 1.0, seen.z)
        blend_rows(state.gram[j], gamma, 1.0, seen.gram)
        blend_rows(state.second[j], gamma, 1.0, seen.Z)
        blend_rows(scaled[j], gamma, 1.0, seen.scaled)
        for a in range(2):
            state.noise[j, a] = gamma * gamma * state.noise[j, a] + seen.squares[a]
        size = quadratic_form(seen.inverse, state.first[j])
        share = signal_share(rules.errors[0] * state.noise[j, 0], size)
        state.kept[j, 0] = max(share, 1.0 / state.counts[j])
        size = trace_of_square(scaled[j])
        state.kept[j, 1] = signal_share(rules.errors[1] * state.noise[j, 1], size)


@inner
def combine(scaled, state):
    """Line 7: b, and B [m, m]."""
    m, N = state.b.shape[0], dot(state.omega, state.counts)
    gram, B = np.zeros((m, m)), np.zeros((m, m))
    state.b[:] = 0.0
    for j in range(state.counts.shape[0]):
        omega = state.omega[j]
        blend_rows(gram, 1.0, omega, state.gram[j])
        blend_rows(B, 1.0, omega * state.kept[j, 1] / N, scaled[j])
        blend(state.b, 1.0, omega * state.kept[j, 0], state.first[j])
    add_ridge(gram, N)
    solve(gram, state.b)
    return B


@inner
def turn(B, seen, state):
    """Line 8: the direction u."""
    u, x = state.u, np.empty(state.u.shape[0])
    sign = -1.0 if dot(u, times(seen.sigma, state.b, x)) < 0.0 else 1.0
    radius = np.sqrt(max(trace_of_square(B), 0.0))
    for _ in range(POWER_STEPS):
        times(B, u, x)
        blend(u, sign * radius, -sign, x)
        blend(u, 1.0, 1.0, state.b)
        normalise(seen.sigma, u)
        sign = 1.0


@inner
def perturb(t, columns, y, state):
    """q of line 9."""
    m, d = columns.shape
    g, q = np.zeros(d), np.empty(m)
    for k in range(m):
        blend(g, 1.0, state.v[k], columns[k])
    state.spread[0] += variance(g)
    state.spread[1] += variance(y)
    h = t**WIDTH_EXPONENT * np.sqrt(state.spread[0] / max(state.spread[1], TINY))
    blend(g, 1.0, h, y)
    higher = cheapest(g)
    blend(g, 1.0, -2.0 * h, y)
    lower = cheapest(g)
    for k in range(m):
        q[k] = columns[k, higher] - columns[k, lower]
    return q


@inner
def refine(t, rules, y, seen, state):
    """Lines 9 and 10: θ before it is projected on Θ."""
    q = perturb(t, seen.columns, y, state)
    state.pull_noise[0] += quadratic_form(seen.inverse, q)
    blend(state.pull, 1.0, 1.0, q)
    copy(state.u, state.v)
    if rules.refine:
        size = quadratic_form(seen.inverse, state.pull)
        share = signal_share(rules.errors[0] * state.pull_noise[0], size)
        length = share / np.sqrt(max(state.pull_noise[0], TINY))
        blend(state.v, 1.0, -length, times(seen.inverse, state.pull, q))
        normalise(seen.sigma, state.v)


@kernel(void(RULES, CUBE, MATRIX, STATE, RECORD))
def play(rules, X, costs, state, record):
    """A block of rounds of one seed: X [B, d, m], costs [B, d]; the arrays of the state are updated."""
    d, m = X.shape[1:]
    prediction, y = np.empty(d), np.empty(d)
    columns, scaled = np.empty((m, d)), np.empty_like(state.second)
    for i in range(costs.shape[0]):
        t = state.t + i + 1
        decide(X, costs, i, state.theta, prediction, record)  # 1
        centre(X[i], costs[i], t, rules, state, columns, y)  # 2
        seen = take_statistics(t, rules, columns, y, state)  # 3
        for j in range(scaled.shape[0]):
            scaled[j] = product(seen.inverse, state.second[j])
        if t > 1:
            weigh_memories(t, rules, seen, scaled, state)  # 4
        remember_and_shrink(rules, seen, scaled, state)  # 5 and 6
        turn(combine(scaled, state), seen, state)  # 7 and 8
        refine(t, rules, y, seen, state)  # 9 and 10
        copy(state.v, state.theta)
        project(state.theta, rules.radius)


def prepare(
    algorithm: DFMoments, state: DFMomentsState, rounds: Rounds, draws: Draws, trace: Trace
) -> tuple[DFMomentsState, Play]:
    """The state after the block, and the function that computes it and the trace for seed number s."""
    radius, sizes = algorithm.problem.theta_set.radius, (algorithm.sizes, algorithm.errors)
    switches = (algorithm.curvature, algorithm.refine, algorithm.robust)
    rules = Rules(algorithm.fading, *sizes, algorithm.standard_errors, *switches, radius)

    def play_seed(own: DFMomentsState, s: int) -> None:
        play(rules, rounds.X[s], rounds.costs[s], own, record_of(trace, s))

    return each_seed(state, rounds.costs.shape[1], DFMomentsState._fields[1:], play_seed)
