"""Targets that learners use in place of the costs; paid and reported are the costs themselves."""

from typing import Literal

from odfl_cli.core.arrays import Array, array_namespace

Target = Literal["raw", "asinh", "rank"]


def transform_costs(target: Target, costs: Array) -> Array:
    """The target of costs [..., d]; against heavy tails, asinh compresses and rank keeps the order alone."""
    if target == "asinh":
        return array_namespace(costs).asinh(costs)
    return rank(costs) if target == "rank" else costs


def rank(costs: Array) -> Array:
    """The share of the other offered items that cost less, [..., d] in [0, 1]; equal ones count half."""
    xp = array_namespace(costs)
    number = lambda truth: xp.astype(truth, costs.dtype).sum(-1)  # noqa: E731
    less = number(costs[..., None, :] < costs[..., None])
    equal = number(costs[..., None, :] == costs[..., None]) - 1.0
    others = number(~xp.isnan(costs))[..., None] - 1.0
    return (less + equal / 2.0) / xp.clip(others, min=1.0)
