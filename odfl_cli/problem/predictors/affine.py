"""The linear predictor with an intercept."""

from odfl_cli.core.arrays import Array, array_namespace, dot
from odfl_cli.core.settings import settings


@settings
class Affine:
    """g(θ, X) = X θ_{1…p} + θ_{p+1}: one weight per feature and an intercept, shared by all items."""

    def parameter_count(self, items: int, features: int) -> int:
        """m = p + 1."""
        return features + 1

    def design(self, X: Array) -> Array:
        """X and a column of ones."""
        return with_ones(X)

    def predict(self, theta: Array, X: Array) -> Array:
        """X θ_{1…p} + θ_{p+1}."""
        return dot(with_ones(X), theta[..., None, :])

    def vjp(self, theta: Array, X: Array, v: Array) -> Array:
        """Xᵀ v, and Σ v_i for the intercept."""
        return (with_ones(X) * v[..., None]).sum(-2)


def with_ones(X: Array) -> Array:
    """X with one more feature, which is always one."""
    xp = array_namespace(X)
    return xp.concat([X, xp.ones_like(X[..., :1])], axis=-1)
