"""What learners learn from in place of the costs. What is paid, and what is reported, are the costs."""

from typing import Literal

from odfl_cli.core.arrays import Array, array_namespace

Target = Literal["raw", "asinh", "rank"]


def transform_costs(target: Target, costs: Array) -> Array:
    """The target of costs [..., d]: of heavy tails, arsinh keeps the sign and rank the order alone."""
    if target == "asinh":
        return array_namespace(costs).asinh(costs)
    return rank(costs) if target == "rank" else costs


def rank(costs: Array) -> Array:
    """The share of the other items that cost less, equal ones count half, [..., d] in [0, 1].

    Items with NaN are not offered and count for nobody.
    """
    xp = array_namespace(costs)
    number = lambda truth: xp.astype(truth, costs.dtype).sum(-1)  # noqa: E731
    less = number(costs[..., None, :] < costs[..., None])
    equal = number(costs[..., None, :] == costs[..., None]) - 1.0
    others = number(~xp.isnan(costs))[..., None] - 1.0
    return (less + equal / 2.0) / xp.clip(others, min=1.0)
