"""Small matrices, compiled; see odfl_cli.core.matrices."""

from odfl_cli.core.compiling import inner


@inner
def times(A, x, out):
    """out = A x."""
    for i in range(A.shape[0]):
        total = 0.0
        for k in range(A.shape[1]):
            total += A[i, k] * x[k]
        out[i] = total


@inner
def product(A, B, out):
    """out = A B."""
    for i in range(A.shape[0]):
        for k in range(B.shape[1]):
            out[i, k] = 0.0
        for j in range(A.shape[1]):
            factor = A[i, j]
            for k in range(B.shape[1]):
                out[i, k] += factor * B[j, k]


@inner
def quadratic_form(A, x):
    """xᵀ A x."""
    total = 0.0
    for i in range(A.shape[0]):
        row = 0.0
        for k in range(A.shape[1]):
            row += A[i, k] * x[k]
        total += x[i] * row
    return total


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
