"""A predictor that is linear in θ and quadratic in the features."""

from odfl_cli.core.arrays import Array, array_namespace
from odfl_cli.core.settings import settings
from odfl_cli.problem.predictors.linear import ByDesign


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
        """m = 1 + p + p (p + 1)/2."""
        return 1 + features + features * (features + 1) // 2

    def design(self, X: Array) -> Array:
        """1, x and the distinct products of every item."""
        xp = array_namespace(X)
        products = [X[..., j, None] * X[..., j:] for j in range(X.shape[-1])]
        return xp.concat([xp.ones_like(X[..., :1]), X, *products], axis=-1)
