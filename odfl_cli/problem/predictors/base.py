"""The contract of a predictor."""

from typing import Protocol

from odfl_cli.core.arrays import Array


class Predictor(Protocol):
    """A model g(θ, X) with its gradient; leading axes of θ and X broadcast.

    A predictor that is linear in θ also has `design(X)`, the matrix D [..., d, m] with g = Dθ.
    """

    def parameter_count(self, items: int, features: int) -> int:
        """m, the length of θ."""

    def predict(self, theta: Array, X: Array) -> Array:
        """g(θ, X) for θ [..., m] and X [..., d, p], [..., d]."""

    def vjp(self, theta: Array, X: Array, v: Array) -> Array:
        """(∇_θ g)ᵀ v for v [..., d], [..., m]."""
