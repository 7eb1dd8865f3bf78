"""A kernel that compiles in a moment, for the tests of the cache of kernels."""

from odfl_cli.core.compiling import kernel


@kernel("float64(float64)")
def twice(x):
    """2x."""
    return 2.0 * x
