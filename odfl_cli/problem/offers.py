"""Rounds that do not offer every item: an item with NaN features cannot be played.

Its prediction is NaN, too. The classes here wrap the parts of a problem so that such an item is never
chosen, has no weight in a smoothed decision and no effect on θ.
"""

from dataclasses import dataclass
from typing import Any

from odfl_cli.core.arrays import Array, array_namespace
from odfl_cli.core.errors import RowError, UserError

OFFERS = "rounds that do not offer every item"


def mark_missing(values: Array, marks: Array) -> Array:
    """`values` [..., d] with NaN wherever `marks` [..., d] are NaN."""
    xp = array_namespace(marks)
    return xp.where(xp.isnan(marks), marks, values)


def replace_nan(values: Array, number: float) -> Array:
    """`values` with a number in place of NaN."""
    xp = array_namespace(values)
    return xp.where(xp.isnan(values), xp.full_like(values, number), values)


@dataclass(frozen=True)
class Wrapped:
    """A part of a problem; other attributes are those of the part."""

    part: Any

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "part":
            raise AttributeError(name)
        return getattr(self.part, name)


class OfferedPredictor(Wrapped):
    """g(θ, X) and its gradient without the items that are not offered."""

    def __getattr__(self, name: str) -> Any:
        value = super().__getattr__(name)
        if name in {"for_seeds", "rows"}:
            return lambda seeds: OfferedPredictor(value(seeds))
        return value

    def vjp(self, theta: Array, X: Array, v: Array) -> Array:
        xp = array_namespace(X)
        offered = xp.where(xp.isnan(X[..., 0]), xp.zeros_like(v), v)
        return self.part.vjp(theta, replace_nan(X, 0.0), offered)

    def design(self, X: Array) -> Array:
        """D with rows of zeros for items that are not offered."""
        xp = array_namespace(X)
        offered = ~xp.isnan(X[..., :1])
        D = self.part.design(replace_nan(X, 0.0))
        return xp.where(offered, D, xp.zeros_like(D))


class OfferedPolytope(Wrapped):
    """W without the vertices that use items not offered."""

    def minimise(self, costs: Array) -> Array:
        """A vertex in argmin ⟨costs, w⟩ with w_i = 0 where costs are NaN."""
        xp, least = array_namespace(costs), self.part.least_offered
        few = (xp.isnan(costs).sum(-1) > costs.shape[-1] - least).reshape(-1).tolist()
        if True in few:
            raise RowError(few.index(True), len(few), f"fewer than {least} items are offered")
        return self.part.minimise(replace_nan(costs, float("inf")))


class OfferedRegularizer(Wrapped):
    """Smoothed decisions with weight 0 on items not offered."""

    def smooth(self, g: Array, alpha: Array) -> Array:
        """w̃_α(g) over the items whose g is not NaN."""
        if not getattr(self.part, "takes_offers", False):
            name = type(self.part).__name__
            raise UserError(
                f"regularizer: {name} cannot smooth {OFFERS}; choose regularizer=entropy"
            )
        return self.part.smooth(replace_nan(g, float("inf")), alpha)


def centre(point: Array, marks: Array) -> Array:
    """`point` [d] with the shares of items not offered spread over the others, [..., d] as `marks`."""
    xp = array_namespace(marks)
    weights = xp.where(xp.isnan(marks), xp.zeros_like(marks), xp.zeros_like(marks) + point)
    return weights * (point.sum() / weights.sum(-1)[..., None])
