"""The contract of a regulariser."""

from typing import Protocol

from odfl_cli.core.arrays import Array


class Regularizer(Protocol):
    """w̃_α(g) = argmin_{w∈W} ⟨g, w⟩ + α R(w) and its Jacobian. `alpha` broadcasts against g."""

    @property
    def suboptimality(self) -> float:
        """n: the smoothed decision costs at most n·α more than the best one."""

    def smooth(self, g: Array, alpha: Array) -> Array:
        """w̃_α(g), [..., d]."""

    def vjp(self, w: Array, alpha: Array, v: Array) -> Array:
        """(∂w̃/∂g)ᵀ v at w = w̃_α(g), [..., d]."""
