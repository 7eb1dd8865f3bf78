"""Products of vectors and matrices, compiled."""

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
