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
    """Xᵀ v, written to `out`."""
    out[:] = 0.0
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            out[j] += v[i] * X[i, j]
    return out
