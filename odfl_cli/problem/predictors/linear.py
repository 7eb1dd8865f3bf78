"""The paper's predictor: one weight per feature, shared by all items."""

from odfl_cli.core.arrays import Array, dot
from odfl_cli.core.settings import settings


@settings
class Linear:
    """g(θ, X) = X θ."""

    def parameter_count(self, items: int, features: int) -> int:
        """m = p."""
        return features

    def design(self, X: Array) -> Array:
        """X itself."""
        return X

    def predict(self, theta: Array, X: Array) -> Array:
        """X θ."""
        return dot(X, theta[..., None, :])

    def vjp(self, theta: Array, X: Array, v: Array) -> Array:
        """Xᵀ v."""
        return (X * v[..., None]).sum(-2)
