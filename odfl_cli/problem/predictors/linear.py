"""Predictors linear in θ: the paper's, with an intercept, with products, with weights per item."""

from odfl_cli.core.arrays import Array, array_namespace, dot
from odfl_cli.core.settings import settings


class ByDesign:
    """g(θ, X) = D θ; a subclass defines D = design(X)."""

    def design(self, X: Array) -> Array:
        """D, [..., d, m]."""
        raise NotImplementedError

    def predict(self, theta: Array, X: Array) -> Array:
        return dot(self.design(X), theta[..., None, :])

    def vjp(self, theta: Array, X: Array, v: Array) -> Array:
        return (self.design(X) * v[..., None]).sum(-2)


@settings
class Linear(ByDesign):
    """g(θ, X) = X θ: one weight per feature, shared by all items. The paper's predictor."""

    kernel = "linear"

    def parameter_count(self, items: int, features: int) -> int:
        return features

    def design(self, X: Array) -> Array:
        return X


@settings
class Affine(ByDesign):
    """g(θ, X) = X θ_{1…p} + θ_{p+1}: one weight per feature and an intercept, shared by all items."""

    def parameter_count(self, items: int, features: int) -> int:
        return features + 1

    def design(self, X: Array) -> Array:
        xp = array_namespace(X)
        return xp.concat([X, xp.ones_like(X[..., :1])], axis=-1)


@settings
class Quadratic(ByDesign):
    """g_i(θ, X) = θ_0 + Σ_j θ_j x_ij + Σ_{j≤k} θ_jk x_ij x_ik, with one θ for all items.

    θ holds the intercept, the p weights of the features, then those of the distinct products, row
    by row: (1,1), (1,2), …, (1,p), (2,2), …, (p,p). Features and products are taken as they are: where
    features have standard deviation s, products have s², so that a gradient step, a ridge penalty
    and the radius of Θ treat them alike only for features near unit scale. Scale the columns of
    recorded data first; the synthetic data has unit scale.
    """

    def parameter_count(self, items: int, features: int) -> int:
        return 1 + features + features * (features + 1) // 2

    def design(self, X: Array) -> Array:
        xp = array_namespace(X)
        products = [X[..., j, None] * X[..., j:] for j in range(X.shape[-1])]
        return xp.concat([xp.ones_like(X[..., :1]), X, *products], axis=-1)


@settings
class PerItem:
    """g_i(θ, X) = ⟨x_i, θ_i⟩: θ holds the weights of item 1, then those of item 2, …"""

    def parameter_count(self, items: int, features: int) -> int:
        return items * features

    def design(self, X: Array) -> Array:
        """Row i holds x_i in the columns of θ_i and zeros elsewhere."""
        xp, items = array_namespace(X), X.shape[-2]
        unit = xp.eye(items, dtype=X.dtype, device=X.device)
        blocks = unit[..., None] * X[..., None, :]
        return blocks.reshape(*X.shape[:-1], items * X.shape[-1])

    def predict(self, theta: Array, X: Array) -> Array:
        return dot(X, theta.reshape(*theta.shape[:-1], *X.shape[-2:]))

    def vjp(self, theta: Array, X: Array, v: Array) -> Array:
        rows = X * v[..., None]
        return rows.reshape(*rows.shape[:-2], -1)
