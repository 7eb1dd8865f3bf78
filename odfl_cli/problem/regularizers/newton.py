"""Damped Newton for the log barrier, row by row, compiled.

It minimises ⟨g/α, w⟩ − Σ ln s_i, s = b − A w, over C w = e, which is self-concordant. Faces that
touch one item (bounds) make a diagonal D of the Hessian, the others (G) a low-rank rest, so that a
Newton step is one small solve: with E = [C; G] and W = diag(s_G⁻²),

    dw = −D⁻¹(∇ + Eᵀy),   (E D⁻¹ Eᵀ + diag(0, W⁻¹)) y = −E D⁻¹ ∇ − [e − C w; 0],

where e − C w takes back what rounding has moved w off the equalities.
"""

import math

import numpy as np
from numba import f8, i8, types, void

from odfl_cli.core.compiling import kernel, ordered
from odfl_cli.problem.regularizers.log_barrier import Barrier

ARMIJO, BACKTRACK, TO_THE_WALL = 0.1, 0.5, 0.8
MOST_STEPS, MOST_TRIALS = 200, 60
QUADRATIC = 0.01
POLISHED = 0.01
SMALL, LARGE = 1e-100, 1e100
INTS, FLOATS, ROWS = i8[::1], f8[::1], f8[:, ::1]
BARRIER = types.NamedTuple(
    (
        INTS, FLOATS, FLOATS, INTS, INTS, FLOATS, INTS, INTS, INTS, INTS, INTS, FLOATS,
        FLOATS, FLOATS, f8,
    ),
    Barrier,
)  # fmt: skip


@ordered
def dot(a, b):
    """⟨a, b⟩."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@ordered
def times(barrier, x, out):
    """out = E x, its first rows where out ends early."""
    for i in range(out.shape[0]):
        out[i] = 0.0
        for a in range(barrier.starts[i], barrier.starts[i + 1]):
            out[i] += barrier.values[a] * x[barrier.columns[a]]


@ordered
def add_transposed(barrier, y, out):
    """out += Eᵀ y; a y that ends early counts as zero from there."""
    for i in range(y.shape[0]):
        for a in range(barrier.starts[i], barrier.starts[i + 1]):
            out[barrier.columns[a]] += barrier.values[a] * y[i]


@ordered
def faces_times(barrier, x, out):
    """out = A x."""
    bounds, equal = barrier.items.shape[0], barrier.e.shape[0]
    for i in range(bounds):
        out[i] = barrier.slopes[i] * x[barrier.items[i]]
    for i in range(bounds, out.shape[0]):
        out[i], row = 0.0, equal + i - bounds
        for a in range(barrier.starts[row], barrier.starts[row + 1]):
            out[i] += barrier.values[a] * x[barrier.columns[a]]


@ordered
def set_gradient(barrier, q, inverses, out):
    """out = q + Σ A_i / s_i."""
    bounds, equal = barrier.items.shape[0], barrier.e.shape[0]
    for j in range(out.shape[0]):
        out[j] = q[j]
    for i in range(bounds):
        out[barrier.items[i]] += barrier.slopes[i] * inverses[i]
    for i in range(bounds, inverses.shape[0]):
        row = equal + i - bounds
        for a in range(barrier.starts[row], barrier.starts[row + 1]):
            out[barrier.columns[a]] += barrier.values[a] * inverses[i]


@ordered
def set_system(barrier, s, D_inverse, K):
    """K = E D⁻¹ Eᵀ + diag(0, W⁻¹), on the diagonal and below, from the first entry of every row."""
    bounds, equal = barrier.items.shape[0], barrier.e.shape[0]
    for i in range(K.shape[0]):
        for j in range(barrier.first[i], i):
            K[i, j] = 0.0
    for k in range(barrier.row.shape[0]):
        total = 0.0
        for a in range(barrier.terms[k], barrier.terms[k + 1]):
            total += barrier.term_values[a] * D_inverse[barrier.term_items[a]]
        K[barrier.row[k], barrier.column[k]] = total
    for i in range(equal, K.shape[0]):
        slack = s[bounds + i - equal]
        K[i, i] += slack * slack


@ordered
def solve(K, first, x):
    """x = K⁻¹ x, both in place: K becomes its Cholesky factor with the diagonal inverted.

    Row i of K begins at first[i].
    """
    for i in range(K.shape[0]):
        for j in range(first[i], i + 1):
            total = K[i, j]
            for k in range(max(first[i], first[j]), j):
                total -= K[i, k] * K[j, k]
            K[i, j] = 1.0 / math.sqrt(total) if i == j else total * K[j, j]
    for i in range(x.shape[0]):
        total = x[i]
        for k in range(first[i], i):
            total -= K[i, k] * x[k]
        x[i] = total * K[i, i]
    for i in range(x.shape[0] - 1, -1, -1):
        x[i] *= K[i, i]
        for k in range(first[i], i):
            x[k] -= K[i, k] * x[i]


@ordered
def newton_step(barrier, s, inverses, v, missing, step, y):
    """The step for the gradient v with C·step = missing, and the multipliers y of E."""
    D_inverse = np.zeros(step.shape[0])
    for i in range(barrier.items.shape[0]):
        pull = barrier.slopes[i] * inverses[i]
        D_inverse[barrier.items[i]] += pull * pull
    for j in range(step.shape[0]):
        D_inverse[j] = 1.0 / D_inverse[j]
        step[j] = 0.0 - D_inverse[j] * v[j]
    times(barrier, step, y)
    for i in range(missing.shape[0]):
        y[i] -= missing[i]
    K = np.empty((y.shape[0], y.shape[0]))
    set_system(barrier, s, D_inverse, K)
    solve(K, barrier.first, y)
    for j in range(step.shape[0]):
        step[j] = v[j]
    add_transposed(barrier, y, step)
    for j in range(step.shape[0]):
        step[j] = 0.0 - D_inverse[j] * step[j]


@ordered
def line_search(slope, linear, change):
    """The longest tried fraction of the step that stays inside and decreases enough.

    Close to the minimum (decrement λ² = −slope small) the full step is safe by self-concordance,
    and the decrease drowns in rounding.
    """
    if not slope < -QUADRATIC:
        return 1.0
    largest = TO_THE_WALL
    for i in range(change.shape[0]):
        if largest < change[i]:
            largest = change[i]
    t = TO_THE_WALL / largest
    for _ in range(MOST_TRIALS):
        if not t * (linear - ARMIJO * slope) - log_product(t, change) > 0.0:
            break
        t *= BACKTRACK
    return t


@ordered
def log_product(t, change):
    """Σ ln(1 − t·change_i), by the logarithm of a product wherever that stays in range."""
    total, product = 0.0, 1.0
    for i in range(change.shape[0]):
        product *= 1.0 - t * change[i]
        if product < SMALL or product > LARGE:
            total, product = total + math.log(product), 1.0
    return total + math.log(product)


@ordered
def smooth(barrier, g, alpha, w):
    """w = w̃_α(g); returns the residual, ‖α∇‖ up to multiples of C."""
    d, n, equal, residual = g.shape[0], barrier.right.shape[0], barrier.e.shape[0], np.inf
    s, inverses, change = np.empty(n), np.empty(n), np.empty(n)
    q, gradient, step = np.empty(d), np.empty(d), np.empty(d)  # q is g/α, up to multiples of C
    y, missing = np.empty(barrier.first.shape[0]), np.empty(equal)
    for j in range(d):
        w[j], q[j] = barrier.centre[j], g[j] / alpha
    faces_times(barrier, w, s)
    for i in range(n):
        s[i] = barrier.right[i] - s[i]
    for _ in range(MOST_STEPS):
        for i in range(n):  # so that nothing else divides by a slack
            inverses[i] = 1.0 / s[i]
        set_gradient(barrier, q, inverses, gradient)
        # One step from within the tolerance squares the error, and is the last.
        last = not barrier.tolerance < residual
        residual = alpha * math.sqrt(dot(gradient, gradient))
        if last or not POLISHED * barrier.tolerance < residual:
            break
        times(barrier, w, missing)
        for i in range(equal):
            missing[i] = barrier.e[i] - missing[i]
        newton_step(barrier, s, inverses, gradient, missing, step, y)
        faces_times(barrier, step, change)
        for i in range(n):
            change[i] *= inverses[i]
        t = line_search(dot(gradient, step), dot(q, step), change)
        for j in range(d):
            w[j] += t * step[j]
        for i in range(n):
            s[i] *= 1.0 - t * change[i]
        # Multiples of C do not move w̃: with them inside q, nothing large is left to cancel, and
        # what the full step leaves of ∇ is of second order.
        add_transposed(barrier, y[:equal], q)
    return residual


@ordered
def vjp(barrier, w, alpha, v, out):
    """out = −(1/α) H⁻¹ v within the equalities at w = w̃_α, H = Σ s_i⁻² A_i A_iᵀ."""
    s, inverses = np.empty(barrier.right.shape[0]), np.empty(barrier.right.shape[0])
    y, missing = np.empty(barrier.first.shape[0]), np.zeros(barrier.e.shape[0])
    faces_times(barrier, w, s)
    for i in range(s.shape[0]):
        s[i] = barrier.right[i] - s[i]
        inverses[i] = 1.0 / s[i]
    newton_step(barrier, s, inverses, v, missing, out, y)
    for j in range(out.shape[0]):
        out[j] /= alpha


@kernel(void(BARRIER, ROWS, ROWS, ROWS, FLOATS))
def smooth_rows(barrier, g, alpha, out, residuals):
    """out = w̃ [N, d], and the residuals [N], for every row of g [N, d] and α [N, 1]."""
    for row in range(g.shape[0]):
        residuals[row] = smooth(barrier, g[row], alpha[row, 0], out[row])


@kernel(void(BARRIER, ROWS, ROWS, ROWS, ROWS))
def vjp_rows(barrier, w, alpha, v, out):
    """The products for rows w and v [N, d], α [N, 1]; w are the decisions w̃."""
    for row in range(v.shape[0]):
        vjp(barrier, w[row], alpha[row, 0], v[row], out[row])
