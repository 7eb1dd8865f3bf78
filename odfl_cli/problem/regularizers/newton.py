"""Damped Newton for the log barrier, for one decision; kernels call it.

It minimises ⟨g/α, w⟩ − Σ ln s_i, s = b − A w, over C w = e, which is self-concordant. Faces that
touch one item (bounds) make a diagonal D of the Hessian, the others (G) a low-rank rest, so that a
Newton step is one small solve: with E = [C; G] and W = diag(s_G⁻²),

    dw = −D⁻¹(∇ + Eᵀy),   (E D⁻¹ Eᵀ + diag(0, W⁻¹)) y = −E D⁻¹ ∇ − [e − C w; 0],

where e − C w takes back what rounding has moved w off the equalities.
"""

from typing import NamedTuple

import numpy as np

from odfl_cli.core.compiling import allocating, inner
from odfl_cli.problem.regularizers.barrier import unpacked as unpacked_in_python

ARMIJO, BACKTRACK, TO_THE_WALL = 0.1, 0.5, 0.8
MOST_STEPS = 200
QUADRATIC = 0.01
POLISHED = 0.01
SMALL, LARGE = 1e-100, 1e100


class Workspace(NamedTuple):
    """Scratch arrays of the Newton steps."""

    s: np.ndarray  # slacks, bounds first
    inverses: np.ndarray  # 1/s
    change: np.ndarray  # A · step / s
    w: np.ndarray
    q: np.ndarray  # g/α, up to multiples of C
    gradient: np.ndarray
    D_inverse: np.ndarray
    step: np.ndarray
    y: np.ndarray  # multipliers of E
    products: np.ndarray  # E · something
    missing: np.ndarray  # e − C w
    K: np.ndarray  # E D⁻¹ Eᵀ + diag(0, W⁻¹), and then its factor


unpacked = allocating(unpacked_in_python)


@allocating
def workspace(barrier):
    """For a barrier of that size."""
    n, d, size = barrier.right.shape[0], barrier.centre.shape[0], barrier.first.shape[0]
    per_face, per_item, per_row = np.empty((3, n)), np.empty((5, d)), np.empty((2, size))
    return Workspace(
        per_face[0], per_face[1], per_face[2],
        per_item[0], per_item[1], per_item[2], per_item[3], per_item[4],
        per_row[0], per_row[1], np.empty(barrier.e.shape[0]), np.empty((size, size)),
    )  # fmt: skip


@inner
def dot(a, b):
    """⟨a, b⟩."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@inner
def copy(a, out):
    """out = a; slices would first ask whether the two overlap."""
    for i in range(out.shape[0]):
        out[i] = a[i]


@inner
def times(barrier, x, out):
    """out = E x, its first rows where out ends early."""
    starts, columns, values = barrier.starts, barrier.columns, barrier.values
    for i in range(out.shape[0]):
        total = 0.0
        for a in range(starts[i], starts[i + 1]):
            total += values[a] * x[columns[a]]
        out[i] = total


@inner
def add_transposed(barrier, y, out):
    """out += Eᵀ y; a y that ends early counts as zero from there."""
    starts, columns, values = barrier.starts, barrier.columns, barrier.values
    for i in range(y.shape[0]):
        for a in range(starts[i], starts[i + 1]):
            out[columns[a]] += values[a] * y[i]


@inner
def faces_times(barrier, x, products, out):
    """out = A x; products is scratch."""
    items, slopes = barrier.items, barrier.slopes
    bounds, equal = items.shape[0], barrier.e.shape[0]
    for i in range(bounds):
        out[i] = slopes[i] * x[items[i]]
    if bounds < out.shape[0]:
        times(barrier, x, products)
        for i in range(bounds, out.shape[0]):
            out[i] = products[equal + i - bounds]


@inner
def set_slacks(barrier, work, w):
    """s = b − A w."""
    faces_times(barrier, w, work.products, work.s)
    for i in range(work.s.shape[0]):
        work.s[i] = barrier.right[i] - work.s[i]


@inner
def invert_slacks(work):
    """1/s, so that nothing else divides by a slack."""
    for i in range(work.s.shape[0]):
        work.inverses[i] = 1.0 / work.s[i]


@inner
def set_gradient(barrier, work):
    """∇ = q + Σ A_i / s_i."""
    items, slopes, inverses, y = barrier.items, barrier.slopes, work.inverses, work.y
    bounds, equal = items.shape[0], barrier.e.shape[0]
    copy(work.q, work.gradient)
    for i in range(bounds):
        work.gradient[items[i]] += slopes[i] * inverses[i]
    if bounds < inverses.shape[0]:
        y[:equal] = 0.0
        for i in range(bounds, inverses.shape[0]):
            y[equal + i - bounds] = inverses[i]
        add_transposed(barrier, y, work.gradient)


@inner
def set_system(barrier, work):
    """K = E D⁻¹ Eᵀ + diag(0, W⁻¹), on the diagonal and below."""
    row, column, terms = barrier.row, barrier.column, barrier.terms
    items, values = barrier.term_items, barrier.term_values
    bounds, equal, K = barrier.items.shape[0], barrier.e.shape[0], work.K
    K[:] = 0.0
    for k in range(row.shape[0]):
        total = 0.0
        for a in range(terms[k], terms[k + 1]):
            total += values[a] * work.D_inverse[items[a]]
        K[row[k], column[k]] = total
    for i in range(equal, K.shape[0]):
        K[i, i] += work.s[bounds + i - equal] ** 2


@inner
def factor(K, first):
    """The lower Cholesky factor of K in place, its diagonal inverted; row i begins at first[i]."""
    for i in range(K.shape[0]):
        for j in range(first[i], i + 1):
            total = K[i, j]
            for k in range(max(first[i], first[j]), j):
                total -= K[i, k] * K[j, k]
            K[i, j] = 1.0 / np.sqrt(total) if i == j else total * K[j, j]


@inner
def solve(L, first, x):
    """x = (L Lᵀ)⁻¹ x in place, for an L with its diagonal inverted."""
    for i in range(x.shape[0]):
        for k in range(first[i], i):
            x[i] -= L[i, k] * x[k]
        x[i] *= L[i, i]
    for i in range(x.shape[0] - 1, -1, -1):
        x[i] *= L[i, i]
        for k in range(first[i], i):
            x[k] -= L[i, k] * x[i]


@inner
def newton_step(barrier, work, v):
    """The step for the gradient v with C·step = missing, and the multipliers y."""
    items, slopes, inverses = barrier.items, barrier.slopes, work.inverses
    D_inverse, y, step, missing = work.D_inverse, work.y, work.step, work.missing
    D_inverse[:] = 0.0
    for i in range(items.shape[0]):
        D_inverse[items[i]] += (slopes[i] * inverses[i]) ** 2
    for j in range(v.shape[0]):
        D_inverse[j] = 1.0 / D_inverse[j]
        step[j] = -D_inverse[j] * v[j]
    times(barrier, step, y)
    for i in range(missing.shape[0]):
        y[i] -= missing[i]
    set_system(barrier, work)
    factor(work.K, barrier.first)
    solve(work.K, barrier.first, y)
    copy(v, step)
    add_transposed(barrier, y, step)
    for j in range(step.shape[0]):
        step[j] *= -D_inverse[j]


@inner
def line_search(slope, linear, change):
    """The longest tried fraction of the step that stays inside and decreases enough.

    Close to the minimum (decrement λ² = −slope small) the full step is safe by self-concordance,
    and the decrease drowns in rounding.
    """
    if -slope < QUADRATIC:
        return 1.0
    largest = TO_THE_WALL
    for i in range(change.shape[0]):
        largest = max(largest, change[i])
    t = TO_THE_WALL / largest
    for _ in range(60):
        if t * linear - log_product(t, change) <= ARMIJO * t * slope:
            return t
        t *= BACKTRACK
    return t


@inner
def log_product(t, change):
    """Σ ln(1 − t·change_i), by the logarithm of a product wherever that stays in range."""
    total, product = 0.0, 1.0
    for i in range(change.shape[0]):
        product *= 1.0 - t * change[i]
        if not SMALL < product < LARGE:
            total += np.log(product)
            product = 1.0
    return total + np.log(product)


@inner
def smooth(barrier, work, g, alpha, w):
    """w = w̃_α(g); returns the steps taken and the residual, ‖α∇‖ up to multiples of C."""
    equal = barrier.e.shape[0]
    copy(barrier.centre, w)
    set_slacks(barrier, work, w)
    for j in range(g.shape[0]):
        work.q[j] = g[j] / alpha
    steps, residual = 0, np.inf
    for k in range(MOST_STEPS):
        invert_slacks(work)
        set_gradient(barrier, work)
        before, residual = residual, alpha * np.sqrt(dot(work.gradient, work.gradient))
        steps = k
        # One step from within the tolerance squares the error, and is the last.
        if not residual > POLISHED * barrier.tolerance or not before > barrier.tolerance:
            break
        times(barrier, w, work.missing)
        for i in range(equal):
            work.missing[i] = barrier.e[i] - work.missing[i]
        newton_step(barrier, work, work.gradient)
        faces_times(barrier, work.step, work.products, work.change)
        for i in range(work.s.shape[0]):
            work.change[i] *= work.inverses[i]
        slope, linear = dot(work.gradient, work.step), dot(work.q, work.step)
        t = line_search(slope, linear, work.change)
        for j in range(w.shape[0]):
            w[j] += t * work.step[j]
        for i in range(work.s.shape[0]):
            work.s[i] *= 1.0 - t * work.change[i]
        # Multiples of C do not move w̃: with them inside q, nothing large is left to cancel, and
        # what the full step leaves of ∇ is of second order.
        add_transposed(barrier, work.y[:equal], work.q)
    return steps, residual


@inner
def vjp(barrier, work, w, alpha, v, out):
    """out = −(1/α) H⁻¹ v within the equalities at w = w̃_α, H = Σ s_i⁻² A_i A_iᵀ."""
    set_slacks(barrier, work, w)
    invert_slacks(work)
    work.missing[:] = 0.0
    newton_step(barrier, work, v)
    for j in range(out.shape[0]):
        out[j] = work.step[j] / alpha
