"""A kernel that compiles in a moment, for the tests of the cache of kernels."""

from odfl_cli.core.compiling import kernel
from odfl_cli.core.signatures import f8


@kernel(f8(f8))
def twice(x):
    """2x."""
    return 2.0 * x
