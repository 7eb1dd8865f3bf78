"""Damped Newton for the log barrier, one row after another. Import through odfl_cli.kernel_cache.

It minimises ⟨g/α, w⟩ − Σ ln s_i, s = b − A w, over C w = e, which is self-concordant. Faces that
touch one item (bounds) make a diagonal D of the Hessian, the others (G) a low-rank rest, so that a
Newton step is one small solve: with E = [C; G] and W = diag(s_G⁻²),

    dw = −D⁻¹(∇ + Eᵀy),   (E D⁻¹ Eᵀ + diag(0, W⁻¹)) y = −E D⁻¹ ∇ − [e − C w; 0],

where e − C w takes back what rounding has moved w off the equalities.

Rows of a matrix come compressed: the entries of row i are starts[i] … starts[i + 1].
"""

import numpy as np

from odfl_cli.compiling import inner, kernel

ARMIJO, BACKTRACK, TO_THE_WALL = 0.1, 0.5, 0.99
MOST_STEPS = 200
QUADRATIC = 0.01

MATRICES = "i8[::1], i8[::1], f8[::1], i8[::1], i8[::1], f8[::1], f8[::1]"
"""A by rows; E = [C; G] by rows; e, the right-hand sides of C w = e."""


@inner
def times(starts, columns, values, x, out):
    """out = M x."""
    for i in range(out.shape[0]):
        total = 0.0
        for a in range(starts[i], starts[i + 1]):
            total += values[a] * x[columns[a]]
        out[i] = total


@inner
def add_transposed(starts, columns, values, y, out):
    """out += Mᵀ y."""
    for i in range(y.shape[0]):
        for a in range(starts[i], starts[i + 1]):
            out[columns[a]] += values[a] * y[i]


@inner
def factor(H):
    """The lower Cholesky factor of H, in place of its lower triangle."""
    for i in range(H.shape[0]):
        for j in range(i + 1):
            total = H[i, j]
            for k in range(j):
                total -= H[i, k] * H[j, k]
            H[i, j] = np.sqrt(total) if i == j else total / H[j, j]


@inner
def solve(L, x):
    """x = (L Lᵀ)⁻¹ x in place."""
    for i in range(x.shape[0]):
        for k in range(i):
            x[i] -= L[i, k] * x[k]
        x[i] /= L[i, i]
    for i in range(x.shape[0] - 1, -1, -1):
        for k in range(i + 1, x.shape[0]):
            x[i] -= L[k, i] * x[k]
        x[i] /= L[i, i]


@inner
def newton_step(
    a_starts, a_columns, a_values, starts, columns, values, missing, s, v, K, dense, y, step
):
    """The Newton step for the gradient v with C·step = missing; y: multipliers, rest: scratch."""
    equal = missing.shape[0]
    inverse = dense[0]
    inverse[:] = 0.0
    rest = equal
    for i in range(s.shape[0]):
        if a_starts[i + 1] - a_starts[i] == 1:
            a = a_starts[i]
            inverse[a_columns[a]] += (a_values[a] / s[i]) ** 2
    for j in range(inverse.shape[0]):
        inverse[j] = 1.0 / inverse[j]
    K[:] = 0.0
    for i in range(s.shape[0]):
        if a_starts[i + 1] - a_starts[i] > 1:
            K[rest, rest] = s[i] ** 2
            rest += 1
    row = dense[1]
    for i in range(y.shape[0]):
        row[:] = 0.0
        total = 0.0
        for a in range(starts[i], starts[i + 1]):
            row[columns[a]] = values[a] * inverse[columns[a]]
            total += row[columns[a]] * v[columns[a]]
        y[i] = -total - (missing[i] if i < equal else 0.0)
        for k in range(i, y.shape[0]):
            for a in range(starts[k], starts[k + 1]):
                K[k, i] += values[a] * row[columns[a]]
    factor(K)
    solve(K, y)
    step[:] = v
    add_transposed(starts, columns, values, y, step)
    for j in range(step.shape[0]):
        step[j] *= -inverse[j]


@inner
def line_search(slope, linear, s, change):
    """The longest tried fraction of the step that stays inside and decreases enough.

    Close to the minimum (decrement λ² = −slope small) the full step is safe by self-concordance,
    and the decrease drowns in rounding.
    """
    t = 1.0
    if -slope < QUADRATIC:
        return t
    for i in range(s.shape[0]):
        if t * change[i] > TO_THE_WALL * s[i]:
            t = TO_THE_WALL * s[i] / change[i]
    for _ in range(60):
        gain = t * linear
        for i in range(s.shape[0]):
            gain -= np.log1p(-t * change[i] / s[i])
        if gain <= ARMIJO * t * slope:
            return t
        t *= BACKTRACK
    return t


@inner
def distance_to_multiples(gradient, starts, columns, values, y, scratch):
    """‖∇ + Cᵀy‖: what is left of the gradient once the equalities have taken their part."""
    scratch[:] = gradient
    add_transposed(starts, columns, values, y, scratch)
    return np.sqrt((scratch * scratch).sum())


@kernel(f"void(f8[:,::1], f8[::1], {MATRICES}, f8[::1], f8[::1], f8, f8[:,::1], i8[::1], f8[::1])")
def barrier_decisions(
    g, alpha, a_starts, a_columns, a_values, starts, columns, values, e,
    centre, slack, tolerance, w, steps, residuals,
):  # fmt: skip
    """w̃ of every row of g [rows, d], from `centre` with its slacks. Rows do not see each other."""
    d, size = g.shape[1], starts.shape[0] - 1
    K, dense, y = np.empty((size, size)), np.empty((2, d)), np.empty(size)
    gradient, step, q, missing = np.empty(d), np.empty(d), np.empty(d), np.empty(e.shape[0])
    s, change, inverse = np.empty_like(slack), np.empty_like(slack), np.empty_like(slack)
    for row in range(g.shape[0]):
        s[:], w[row] = slack, centre
        q[:] = g[row] / alpha[row]
        for k in range(MOST_STEPS):
            gradient[:] = q
            inverse[:] = 1.0 / s
            add_transposed(a_starts, a_columns, a_values, inverse, gradient)
            times(starts, columns, values, w[row], missing)
            missing[:] = e - missing
            newton_step(
                a_starts, a_columns, a_values, starts, columns, values, missing,
                s, gradient, K, dense, y, step,
            )  # fmt: skip
            left = distance_to_multiples(
                gradient, starts, columns, values, y[: e.shape[0]], dense[1]
            )
            residuals[row], steps[row] = alpha[row] * left, k
            if not residuals[row] > tolerance:
                break
            times(a_starts, a_columns, a_values, step, change)
            slope, linear = (gradient * step).sum(), (q * step).sum()
            t = line_search(slope, linear, s, change)
            w[row] += t * step
            s -= t * change
            # Multiples of C do not move w̃: with them inside q, nothing large is left to cancel.
            add_transposed(starts, columns, values, y[: e.shape[0]], q)


@kernel(f"void(f8[:,::1], f8[::1], f8[:,::1], {MATRICES}, f8[:,::1])")
def barrier_vjps(v, alpha, s, a_starts, a_columns, a_values, starts, columns, values, e, out):
    """−(1/α) H⁻¹ v within the equalities for every row; s [rows, n] are the slacks at w̃."""
    d, size = v.shape[1], starts.shape[0] - 1
    K, dense, y = np.empty((size, size)), np.empty((2, d)), np.empty(size)
    nothing = np.zeros(e.shape[0])
    for row in range(v.shape[0]):
        newton_step(
            a_starts, a_columns, a_values, starts, columns, values, nothing,
            s[row], v[row], K, dense, y, out[row],
        )  # fmt: skip
        out[row] /= alpha[row]
