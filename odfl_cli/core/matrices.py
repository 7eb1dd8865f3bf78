"""Batches of small matrices [..., m, m] by products and sums alone.

A batched BLAS or LAPACK gives a seed other last digits when other seeds run beside it.
"""

from typing import NamedTuple

from odfl_cli.core.arrays import Array, array_namespace, dot

TINY = 1e-300
"""Replaces a zero that would divide a zero, or whose logarithm would be taken."""


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


def solve(A: Array, b: Array) -> Array:
    """A⁻¹ b, [..., m], for positive definite A."""
    return eliminate(A, b[..., None])[..., 0]


def invert(A: Array) -> Array:
    """A⁻¹, [..., m, m], for positive definite A."""
    unit = array_namespace(A).eye(A.shape[-1], dtype=A.dtype, device=A.device)
    return eliminate(A, unit + 0.0 * A)


def eliminate(A: Array, B: Array) -> Array:
    """A⁻¹ B by Gauss–Jordan elimination, which needs no pivots where A is positive definite."""
    xp = array_namespace(A)
    rows = xp.concat([A, B], axis=-1)
    unit = xp.eye(A.shape[-1], dtype=A.dtype, device=A.device)
    for k in range(A.shape[-1]):
        pivot = rows[..., k, :] / rows[..., k, k][..., None]
        others = rows - rows[..., :, k][..., None] * pivot[..., None, :]
        rows = xp.where(unit[k][:, None] > 0, pivot[..., None, :], others)
    return rows[..., A.shape[-1] :]


def add_ridge(S: Array, N: Array) -> Array:
    """S + (m/N) diag(S), as though m items more had been seen; 1 where a column is zero so far."""
    xp, m = array_namespace(S), S.shape[-1]
    unit = xp.eye(m, dtype=S.dtype, device=S.device)
    diagonal = (S * unit).sum(-1)
    added = xp.where(diagonal > 0, diagonal * (m / N)[..., None], 1.0)
    return S + added[..., None] * unit


class Metric(NamedTuple):
    """Lengths in the units of the data: Σ measures parameters, its inverse measures sums of data."""

    sigma: Array  # Σ, [..., m, m]
    inverse: Array  # Σ⁻¹, [..., m, m]

    def square(self, x: Array) -> Array:
        """‖x‖² = xᵀ Σ⁻¹ x, [...]."""
        return dot(x, times(self.inverse, x))

    def squares(self, x: Array, A: Array) -> Array:
        """‖x‖² and ‖A‖² = tr(Σ⁻¹ A Σ⁻¹ A), [..., 2]."""
        both = self.square(x), trace_of_square(product(self.inverse, A))
        return array_namespace(x).stack(both, axis=-1)

    def for_each(self) -> "Metric":
        """The same metric for arrays with one more axis before the last ones, such as memories."""
        return Metric(self.sigma[..., None, :, :], self.inverse[..., None, :, :])

    def normalise(self, u: Array) -> Array:
        """u / √(uᵀ Σ u); 0 stays 0."""
        xp = array_namespace(u)
        return u / xp.sqrt(xp.clip(dot(u, times(self.sigma, u)), min=TINY))[..., None]
