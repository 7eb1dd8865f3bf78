"""A kernel that compiles in a moment, with a constant and an inner function of other modules."""

from numba import f8

from odfl_cli.core.compiling import kernel
from support import small_functions
from support.small_functions import FACTOR


@kernel(f8(f8))
def scale(x):
    """FACTOR · x."""
    return FACTOR * small_functions.shifted(x)


@kernel(f8(f8[::1]))
def total(values):
    """The sum of an array."""
    result = 0.0
    for value in values:
        result += value
    return result
