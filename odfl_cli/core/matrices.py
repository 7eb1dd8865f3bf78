"""Batches of small matrices [..., m, m] by products and sums alone.

A batched BLAS or LAPACK gives a seed other last digits when other seeds run beside it.
"""

from odfl_cli.core.arrays import Array, array_namespace, dot


def mean(values: Array, axis: int) -> Array:
    """Over one axis."""
    return values.sum(axis) / values.shape[axis]


def variance(values: Array) -> Array:
    """Over the last axis."""
    centred = values - mean(values, -1)[..., None]
    return mean(centred * centred, -1)


def weighted_sum(D: Array, weights: Array) -> Array:
    """Dᵀ weights, [..., m]."""
    return (D * weights[..., None]).sum(-2)


def weighted_gram(D: Array, weights: Array) -> Array:
    """Dᵀ diag(weights) D, [..., m, m]."""
    return ((D * weights[..., None])[..., :, None] * D[..., None, :]).sum(-3)


def times(A: Array, x: Array) -> Array:
    """A x, [..., m]."""
    return dot(A, x[..., None, :])


def product(A: Array, B: Array) -> Array:
    """A B, [..., m, m]."""
    return (A[..., :, :, None] * B[..., None, :, :]).sum(-2)


def trace_of_square(W: Array) -> Array:
    """tr(W²), [...]."""
    return (W * W.swapaxes(-1, -2)).sum((-2, -1))


def solved(A: Array, b: Array) -> Array:
    """A⁻¹ b, [..., m], for positive definite A."""
    return eliminated(A, b[..., None])[..., 0]


def inverted(A: Array) -> Array:
    """A⁻¹, [..., m, m], for positive definite A."""
    unit = array_namespace(A).eye(A.shape[-1], dtype=A.dtype, device=A.device)
    return eliminated(A, unit + 0.0 * A)


def eliminated(A: Array, B: Array) -> Array:
    """A⁻¹ B by Gauss–Jordan elimination, which needs no pivots where A is positive definite."""
    xp = array_namespace(A)
    rows = xp.concat([A, B], axis=-1)
    unit = xp.eye(A.shape[-1], dtype=A.dtype, device=A.device)
    for k in range(A.shape[-1]):
        pivot = rows[..., k, :] / rows[..., k, k][..., None]
        rows = rows - (rows[..., :, k] - unit[k])[..., None] * pivot[..., None, :]
    return rows[..., A.shape[-1] :]
