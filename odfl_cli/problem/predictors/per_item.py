"""A linear predictor for every item."""

from odfl_cli.core.arrays import Array, array_namespace, dot
from odfl_cli.core.settings import settings


@settings
class PerItem:
    """g_i(θ, X) = ⟨x_i, θ_i⟩: θ holds the weights of item 1, then those of item 2, …"""

    def parameter_count(self, items: int, features: int) -> int:
        """m = d p."""
        return items * features

    def design(self, X: Array) -> Array:
        """Row i holds x_i in the columns of θ_i and zeros elsewhere."""
        xp, items = array_namespace(X), X.shape[-2]
        unit = xp.eye(items, dtype=X.dtype, device=X.device)
        blocks = unit[..., None] * X[..., None, :]
        return blocks.reshape(*X.shape[:-1], items * X.shape[-1])

    def predict(self, theta: Array, X: Array) -> Array:
        """⟨x_i, θ_i⟩ for every item."""
        return dot(X, theta.reshape(*theta.shape[:-1], *X.shape[-2:]))

    def vjp(self, theta: Array, X: Array, v: Array) -> Array:
        """v_i x_i, one item after another."""
        rows = X * v[..., None]
        return rows.reshape(*rows.shape[:-2], -1)
