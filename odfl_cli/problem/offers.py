"""Rounds that do not offer every item: NaN in the features of an item marks that it cannot be played."""

from odfl_cli.core.arrays import Array, array_namespace


def marked(values: Array, marks: Array) -> Array:
    """`values` [..., d] with NaN wherever `marks` [..., d] have it."""
    xp = array_namespace(marks)
    return xp.where(xp.isnan(marks), marks, values)


def unmarked(values: Array) -> Array:
    """`values` with 0 in place of NaN: what is not offered costs nothing."""
    xp = array_namespace(values)
    return xp.where(xp.isnan(values), xp.zeros_like(values), values)
