"""The contract of a regulariser."""

from typing import Any, Protocol

import numpy as np

from odfl_cli.core.arrays import Array, to_numpy
from odfl_cli.problem.polytopes.linear import is_simplex


class Regularizer(Protocol):
    """w̃_α(g) = argmin_{w∈W} ⟨g, w⟩ + α R(w) and its Jacobian. `alpha` broadcasts against g.

    Optional attributes: `steepness`, a constant with ‖∂w̃_α/∂g‖ ≤ steepness / α, and `in_paper`,
    whether the paper's theorems cover it, for the bound; `is_softmax`, whether w̃_α(g) =
    softmax(−g/α); `takes_offers`, whether g = ∞ gives w̃ = 0, for items that are not offered;
    `pull_back(g, alpha, v)`, in place of `vjp` if the Jacobian does not follow from w̃ alone; `draw`
    and `with_draws`, the random draws of a round, see `perturbed`.
    """

    @property
    def suboptimality(self) -> float:
        """n: the smoothed decision costs at most n·α more than the best one."""

    def smooth(self, g: Array, alpha: Array) -> Array:
        """w̃_α(g), [..., d]."""

    def vjp(self, w: Array, alpha: Array, v: Array) -> Array:
        """(∂w̃/∂g)ᵀ v at w = w̃_α(g), [..., d]."""


def default_regularizer(polytope: Any) -> str:
    """The default choice of `regularizer` for a set given as an object."""
    if is_simplex(polytope):
        return "entropy"
    if hasattr(polytope, "faces"):
        return "log_barrier"
    return "quadratic" if hasattr(polytope, "project") else "perturbed"


def pull_back(regularizer: Any, g: Array, alpha: Array, v: Array) -> Array:
    """(∂w̃/∂g)ᵀ v at g, [..., d]."""
    if hasattr(regularizer, "pull_back"):
        return regularizer.pull_back(g, alpha, v)
    return regularizer.vjp(regularizer.smooth(g, alpha), alpha, v)


def alpha_column(alpha: Array | float) -> np.ndarray:
    """Positive α as one number per row, [..., 1]."""
    column = np.array([alpha]) if isinstance(alpha, float) else np.atleast_1d(to_numpy(alpha))
    if column.shape[-1] != 1:
        raise ValueError(f"alpha should be one number per row, not of shape {column.shape}")
    if not column.min() > 0:
        raise ValueError("alpha should be positive")
    return column
