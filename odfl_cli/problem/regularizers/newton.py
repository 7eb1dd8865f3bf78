"""Damped Newton for the log barrier, for one decision (floats) or four (registers); kernels call it.

It minimises ⟨g/α, w⟩ − Σ ln s_i, s = b − A w, over C w = e, which is self-concordant. Faces that
touch one item (bounds) make a diagonal D of the Hessian, the others (G) a low-rank rest, so that a
Newton step is one small solve: with E = [C; G] and W = diag(s_G⁻²),

    dw = −D⁻¹(∇ + Eᵀy),   (E D⁻¹ Eᵀ + diag(0, W⁻¹)) y = −E D⁻¹ ∇ − [e − C w; 0],

where e − C w takes back what rounding has moved w off the equalities.
"""

from typing import NamedTuple

import numpy as np

from odfl_cli.core.compiling import inner
from odfl_cli.core.lanes import any_less, load, log, root, store, where_less, zero_like

ARMIJO, BACKTRACK, TO_THE_WALL = 0.1, 0.5, 0.8
MOST_STEPS, MOST_TRIALS = 200, 60
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


@inner
def workspace(barrier, lanes):
    """For a barrier of that size; `lanes` is () for one decision, (LANES,) for four."""
    n, d, size = barrier.right.shape[0], barrier.centre.shape[0], barrier.first.shape[0]
    per_face, per_item = np.empty((3, n, *lanes)), np.empty((5, d, *lanes))
    per_row, missing = np.empty((2, size, *lanes)), np.empty((barrier.e.shape[0], *lanes))
    return Workspace(
        per_face[0], per_face[1], per_face[2],
        per_item[0], per_item[1], per_item[2], per_item[3], per_item[4],
        per_row[0], per_row[1], missing, np.empty((size, size, *lanes)),
    )  # fmt: skip


@inner
def dot(a, b):
    """⟨a, b⟩."""
    total = zero_like(a)
    for i in range(a.shape[0]):
        total = total + load(a, (i,)) * load(b, (i,))
    return total


@inner
def copy(a, out):
    """out = a; slices would first ask whether the two overlap."""
    for i in range(out.shape[0]):
        store(out, (i,), load(a, (i,)))


@inner
def add(out, i, value):
    """out[i] += value."""
    store(out, (i,), load(out, (i,)) + value)


@inner
def times(barrier, x, out):
    """out = E x, its first rows where out ends early."""
    starts, columns, values = barrier.starts, barrier.columns, barrier.values
    for i in range(out.shape[0]):
        total = zero_like(x)
        for a in range(starts[i], starts[i + 1]):
            total = total + values[a] * load(x, (columns[a],))
        store(out, (i,), total)


@inner
def add_transposed(barrier, y, out):
    """out += Eᵀ y; a y that ends early counts as zero from there."""
    starts, columns, values = barrier.starts, barrier.columns, barrier.values
    for i in range(y.shape[0]):
        for a in range(starts[i], starts[i + 1]):
            add(out, columns[a], values[a] * load(y, (i,)))


@inner
def faces_times(barrier, x, products, out):
    """out = A x; products is scratch."""
    items, slopes = barrier.items, barrier.slopes
    bounds, equal = items.shape[0], barrier.e.shape[0]
    for i in range(bounds):
        store(out, (i,), slopes[i] * load(x, (items[i],)))
    if bounds < out.shape[0]:
        times(barrier, x, products)
        for i in range(bounds, out.shape[0]):
            store(out, (i,), load(products, (equal + i - bounds,)))


@inner
def set_slacks(barrier, work, w):
    """s = b − A w."""
    faces_times(barrier, w, work.products, work.s)
    for i in range(work.s.shape[0]):
        store(work.s, (i,), barrier.right[i] - load(work.s, (i,)))


@inner
def invert_slacks(work):
    """1/s, so that nothing else divides by a slack."""
    for i in range(work.s.shape[0]):
        store(work.inverses, (i,), 1.0 / load(work.s, (i,)))


@inner
def set_gradient(barrier, work):
    """∇ = q + Σ A_i / s_i."""
    items, slopes, inverses, y = barrier.items, barrier.slopes, work.inverses, work.y
    bounds, equal = items.shape[0], barrier.e.shape[0]
    copy(work.q, work.gradient)
    for i in range(bounds):
        add(work.gradient, items[i], slopes[i] * load(inverses, (i,)))
    if bounds < inverses.shape[0]:
        for i in range(equal):
            store(y, (i,), 0.0)
        for i in range(bounds, inverses.shape[0]):
            store(y, (equal + i - bounds,), load(inverses, (i,)))
        add_transposed(barrier, y, work.gradient)


@inner
def set_system(barrier, work):
    """K = E D⁻¹ Eᵀ + diag(0, W⁻¹), on the diagonal and below, from the first entry of every row."""
    row, column, terms = barrier.row, barrier.column, barrier.terms
    items, values = barrier.term_items, barrier.term_values
    bounds, equal, K = barrier.items.shape[0], barrier.e.shape[0], work.K
    for i in range(K.shape[0]):
        for j in range(barrier.first[i], i):
            store(K, (i, j), 0.0)
    for k in range(row.shape[0]):
        total = zero_like(work.w)
        for a in range(terms[k], terms[k + 1]):
            total = total + values[a] * load(work.D_inverse, (items[a],))
        store(K, (row[k], column[k]), total)
    for i in range(equal, K.shape[0]):
        slack = load(work.s, (bounds + i - equal,))
        store(K, (i, i), load(K, (i, i)) + slack * slack)


@inner
def factor(K, first):
    """The lower Cholesky factor of K in place, its diagonal inverted; row i begins at first[i]."""
    for i in range(K.shape[0]):
        for j in range(first[i], i + 1):
            total = load(K, (i, j))
            for k in range(max(first[i], first[j]), j):
                total = total - load(K, (i, k)) * load(K, (j, k))
            if i == j:
                store(K, (i, i), 1.0 / root(total))
            else:
                store(K, (i, j), total * load(K, (j, j)))


@inner
def solve(L, first, x):
    """x = (L Lᵀ)⁻¹ x in place, for an L with its diagonal inverted."""
    for i in range(x.shape[0]):
        total = load(x, (i,))
        for k in range(first[i], i):
            total = total - load(L, (i, k)) * load(x, (k,))
        store(x, (i,), total * load(L, (i, i)))
    for i in range(x.shape[0] - 1, -1, -1):
        last = load(x, (i,)) * load(L, (i, i))
        store(x, (i,), last)
        for k in range(first[i], i):
            store(x, (k,), load(x, (k,)) - load(L, (i, k)) * last)


@inner
def newton_step(barrier, work, v):
    """The step for the gradient v with C·step = missing, and the multipliers y."""
    items, slopes, inverses = barrier.items, barrier.slopes, work.inverses
    D_inverse, y, step, missing = work.D_inverse, work.y, work.step, work.missing
    for j in range(D_inverse.shape[0]):
        store(D_inverse, (j,), 0.0)
    for i in range(items.shape[0]):
        pull = slopes[i] * load(inverses, (i,))
        add(D_inverse, items[i], pull * pull)
    for j in range(step.shape[0]):
        inverse = 1.0 / load(D_inverse, (j,))
        store(D_inverse, (j,), inverse)
        store(step, (j,), zero_like(step) - inverse * load(v, (j,)))
    times(barrier, step, y)
    for i in range(missing.shape[0]):
        store(y, (i,), load(y, (i,)) - load(missing, (i,)))
    set_system(barrier, work)
    factor(work.K, barrier.first)
    solve(work.K, barrier.first, y)
    copy(v, step)
    add_transposed(barrier, y, step)
    for j in range(step.shape[0]):
        store(step, (j,), zero_like(step) - load(D_inverse, (j,)) * load(step, (j,)))


@inner
def line_search(slope, linear, change):
    """The longest tried fraction of the step that stays inside and decreases enough.

    Close to the minimum (decrement λ² = −slope small) the full step is safe by self-concordance,
    and the decrease drowns in rounding.
    """
    largest = zero_like(change) + TO_THE_WALL
    if not any_less(slope, -QUADRATIC):
        return largest / TO_THE_WALL
    for i in range(change.shape[0]):
        one = load(change, (i,))
        largest = where_less(largest, one, one, largest)
    t = where_less(slope, -QUADRATIC, TO_THE_WALL / largest, 1.0)
    for _ in range(MOST_TRIALS):
        excess = t * (linear - ARMIJO * slope) - log_product(t, change)
        shorter = where_less(0.0, excess, BACKTRACK * t, t)
        shorter = where_less(slope, -QUADRATIC, shorter, t)
        if not any_less(shorter, t):
            break
        t = shorter
    return t


@inner
def log_product(t, change):
    """Σ ln(1 − t·change_i), by the logarithm of a product wherever that stays in range."""
    total = zero_like(change)
    product = total + 1.0
    for i in range(change.shape[0]):
        product = product * (1.0 - t * load(change, (i,)))
        if any_less(product, SMALL) or any_less(LARGE, product):
            more = total + log(product)
            total = where_less(product, SMALL, more, where_less(LARGE, product, more, total))
            product = where_less(product, SMALL, 1.0, where_less(LARGE, product, 1.0, product))
    return total + log(product)


@inner
def smooth(barrier, work, g, alpha, w):
    """w = w̃_α(g); returns the steps taken and the residual, ‖α∇‖ up to multiples of C."""
    equal, tolerance, steps = barrier.e.shape[0], barrier.tolerance, zero_like(w)
    residual, moving = steps + np.inf, steps + 1.0
    copy(barrier.centre, w)
    set_slacks(barrier, work, w)
    for j in range(g.shape[0]):
        store(work.q, (j,), load(g, (j,)) / alpha)
    for _ in range(MOST_STEPS):
        invert_slacks(work)
        set_gradient(barrier, work)
        # One step from within the tolerance squares the error, and is the last.
        moving = where_less(tolerance, residual, moving, 0.0)
        residual = alpha * root(dot(work.gradient, work.gradient))
        moving = where_less(POLISHED * tolerance, residual, moving, 0.0)
        if not any_less(0.0, moving):
            break
        steps = steps + moving
        times(barrier, w, work.missing)
        for i in range(equal):
            store(work.missing, (i,), barrier.e[i] - load(work.missing, (i,)))
        newton_step(barrier, work, work.gradient)
        faces_times(barrier, work.step, work.products, work.change)
        for i in range(work.s.shape[0]):
            store(work.change, (i,), load(work.change, (i,)) * load(work.inverses, (i,)))
        slope, linear = dot(work.gradient, work.step), dot(work.q, work.step)
        # A decision that is found stays as it is while others beside it move.
        t = moving * line_search(slope, linear, work.change)
        for j in range(w.shape[0]):
            add(w, j, t * load(work.step, (j,)))
        for i in range(work.s.shape[0]):
            store(work.s, (i,), load(work.s, (i,)) * (1.0 - t * load(work.change, (i,))))
        # Multiples of C do not move w̃: with them inside q, nothing large is left to cancel, and
        # what the full step leaves of ∇ is of second order.
        for i in range(equal):
            store(work.y, (i,), moving * load(work.y, (i,)))
        add_transposed(barrier, work.y[:equal], work.q)
    return steps, residual


@inner
def vjp(barrier, work, w, alpha, v, out):
    """out = −(1/α) H⁻¹ v within the equalities at w = w̃_α, H = Σ s_i⁻² A_i A_iᵀ."""
    set_slacks(barrier, work, w)
    invert_slacks(work)
    for i in range(work.missing.shape[0]):
        store(work.missing, (i,), 0.0)
    newton_step(barrier, work, v)
    for j in range(out.shape[0]):
        store(out, (j,), load(work.step, (j,)) / alpha)
