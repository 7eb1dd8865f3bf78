"""Negative entropy on the simplex: the smoothed decision is a softmax (Appendix C)."""

import math

from pydantic import SkipValidation

from odfl_cli.core.arrays import Array, array_namespace, dot
from odfl_cli.core.settings import settings
from odfl_cli.problem.polytopes.linear import DecisionSet, is_simplex


@settings
class Entropy:
    """R(w) = Σ w_i ln w_i, defined on the simplex alone."""

    polytope: SkipValidation[DecisionSet]
    kernel = "entropy"
    is_softmax = True
    takes_offers = True  # e^−∞ is 0
    in_paper = True
    steepness = 1.25  # as in the paper's lemma on the simplex; ½ would do

    def __post_init__(self) -> None:
        if not is_simplex(self.polytope):
            raise ValueError(
                "the entropy smooths the simplex only; choose regularizer=log_barrier or quadratic "
                "where faces are stated, else perturbed"
            )

    @property
    def suboptimality(self) -> float:
        """ln d, the range of the entropy (Proposition 2 replaces n by it)."""
        return math.log(self.polytope.dimension)

    def smooth(self, g: Array, alpha: Array) -> Array:
        """softmax(−g/α), shifted by min g so that no exponential overflows."""
        xp = array_namespace(g)
        weights = xp.exp((xp.min(g, axis=-1, keepdims=True) - g) / alpha)
        return weights / weights.sum(-1)[..., None]

    def vjp(self, w: Array, alpha: Array, v: Array) -> Array:
        """−(1/α)(diag w − w wᵀ) v, equation (12).

        A constant added to v changes nothing; v_0 is subtracted so that equal costs give exactly
        zero and not a rounding error that would decide a later argmin.
        """
        v = v - v[..., :1]
        return w * (dot(w, v)[..., None] - v) / alpha
