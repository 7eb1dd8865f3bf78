"""The contract of a regulariser."""

from typing import Protocol

import numpy as np

from odfl_cli.core.arrays import Array, to_numpy


class Regularizer(Protocol):
    """w̃_α(g) = argmin_{w∈W} ⟨g, w⟩ + α R(w) and its Jacobian. `alpha` broadcasts against g.

    A regulariser may offer more. `smooth_counting(g, alpha)` also returns the Newton steps of every
    row, which are then recorded. `steepness` is a constant with ‖∂w̃_α/∂g‖ ≤ steepness / α, and
    `in_paper` whether the paper's theorems cover it: both are needed for the bound. `is_softmax`
    says that w̃_α(g) = softmax(−g/α). `takes_offers`: that g = ∞ gives w̃ = 0, for items
    that are not offered.
    """

    @property
    def suboptimality(self) -> float:
        """n: the smoothed decision costs at most n·α more than the best one."""

    def smooth(self, g: Array, alpha: Array) -> Array:
        """w̃_α(g), [..., d]."""

    def vjp(self, w: Array, alpha: Array, v: Array) -> Array:
        """(∂w̃/∂g)ᵀ v at w = w̃_α(g), [..., d]."""


def alpha_column(alpha: Array | float) -> np.ndarray:
    """Positive α as one number per row, [..., 1]."""
    column = np.atleast_1d(np.asarray(alpha) if isinstance(alpha, float) else to_numpy(alpha))
    if column.shape[-1] != 1:
        raise ValueError(f"alpha should be one number per row, not of shape {column.shape}")
    if not (column > 0).all():
        raise ValueError("alpha should be positive")
    return column
