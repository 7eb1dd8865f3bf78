"""Small vectors and matrices, compiled; see odfl_cli.core.matrices."""

import numpy as np

from odfl_cli.core.compiling import exact, inner


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
def blend(x, keep, factor, y):
    """x = keep·x + factor·y in place."""
    for i in range(x.shape[0]):
        x[i] = keep * x[i] + factor * y[i]


@inner
def blend_rows(A, keep, factor, B):
    """A = keep·A + factor·B in place."""
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            A[i, k] = keep * A[i, k] + factor * B[i, k]


@inner
def times(A, x, out):
    """A x, written to `out`."""
    for i in range(A.shape[0]):
        total = 0.0
        for k in range(A.shape[1]):
            total += A[i, k] * x[k]
        out[i] = total
    return out


@exact
def vjp(X, v, out):
    """Xᵀ v, written to `out`; four rows at a time, so that `out` is read and written a quarter as often."""
    fours = X.shape[0] // 4 * 4
    out[:] = 0.0
    for i in range(0, fours, 4):
        v0, v1, v2, v3 = v[i], v[i + 1], v[i + 2], v[i + 3]
        for j in range(X.shape[1]):
            out[j] += (v0 * X[i, j] + v1 * X[i + 1, j]) + (v2 * X[i + 2, j] + v3 * X[i + 3, j])
    for i in range(fours, X.shape[0]):
        for j in range(X.shape[1]):
            out[j] += v[i] * X[i, j]
    return out


@inner
def product(A, B):
    """A B."""
    out = np.zeros((A.shape[0], B.shape[1]))
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            for k in range(B.shape[1]):
                out[i, k] += A[i, j] * B[j, k]
    return out


@inner
def symmetric_product(A, B):
    """A Bᵀ, where it is symmetric."""
    out = np.empty((A.shape[0], A.shape[0]))
    for i in range(A.shape[0]):
        for k in range(i + 1):
            out[i, k] = out[k, i] = dot(A[i], B[k])
    return out


@inner
def quadratic_form(A, x):
    """xᵀ A x."""
    return dot(x, times(A, x, np.empty(A.shape[0])))


@inner
def trace_of_square(W):
    """tr(W²)."""
    total = 0.0
    for i in range(W.shape[0]):
        total += W[i, i] * W[i, i]
        for k in range(i):
            total += 2.0 * W[i, k] * W[k, i]
    return total


@inner
def invert(A):
    """A = A⁻¹ in place by Gauss–Jordan elimination, for positive definite A."""
    for k in range(A.shape[0]):
        pivot = 1.0 / A[k, k]
        A[k, k] = 1.0
        for j in range(A.shape[1]):
            A[k, j] *= pivot
        for i in range(A.shape[0]):
            if i != k:
                factor = A[i, k]
                A[i, k] = 0.0
                for j in range(A.shape[1]):
                    A[i, j] -= factor * A[k, j]


@inner
def solve(A, b):
    """b = A⁻¹ b in place by elimination, for positive definite A, which is overwritten."""
    m = A.shape[0]
    for k in range(m):
        for i in range(k + 1, m):
            factor = A[i, k] / A[k, k]
            for j in range(k + 1, m):
                A[i, j] -= factor * A[k, j]
            b[i] -= factor * b[k]
    for k in range(m - 1, -1, -1):
        total = b[k]
        for j in range(k + 1, m):
            total -= A[k, j] * b[j]
        b[k] = total / A[k, k]
