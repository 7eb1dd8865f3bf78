"""The contract of a regulariser."""

from typing import Protocol

from odfl_cli.core.arrays import Array, array_namespace


class Regularizer(Protocol):
    """w̃_α(g) = argmin_{w∈W} ⟨g, w⟩ + α R(w) and its Jacobian. `alpha` broadcasts against g.

    A regulariser may offer more. `smooth_counting(g, alpha)` also returns the Newton steps of every
    row, which are then recorded. `steepness` is a constant with ‖∂w̃_α/∂g‖ ≤ steepness / α, and
    `in_paper` whether the paper's theorems cover it: both are needed for the bound. `is_softmax`
    says that w̃_α(g) = softmax(−g/α). `takes_offers`: that g = ∞ gives w̃ = 0, for items
    that are not offered. `kernel` and `packed`: see odfl_cli.engine.parts.
    """

    @property
    def suboptimality(self) -> float:
        """n: the smoothed decision costs at most n·α more than the best one."""

    def smooth(self, g: Array, alpha: Array) -> Array:
        """w̃_α(g), [..., d]."""

    def vjp(self, w: Array, alpha: Array, v: Array) -> Array:
        """(∂w̃/∂g)ᵀ v at w = w̃_α(g), [..., d]."""


def with_alpha(alpha: Array, *vectors: Array) -> Array:
    """Vectors [..., d] and alpha [..., 1] side by side after broadcasting, [..., k d + 1]."""
    xp = array_namespace(vectors[0])
    if len({tuple(vector.shape) for vector in vectors}) > 1:
        vectors = xp.broadcast_arrays(*vectors)
    column = xp.zeros_like(vectors[0][..., :1]) + alpha
    if column.shape[-1] != 1:
        raise ValueError(f"alpha should be one number per row, not of shape {tuple(alpha.shape)}")
    if not bool((column > 0).all()):
        raise ValueError("alpha should be positive")
    lead = tuple(column.shape[:-1])
    wide = [xp.broadcast_to(vector, (*lead, vector.shape[-1])) for vector in vectors]
    return xp.concat([*wide, column], axis=-1)
