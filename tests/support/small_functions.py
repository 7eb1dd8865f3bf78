"""What the small kernel uses of another module."""

from odfl_cli.core.compiling import exact

FACTOR = 2.0


@exact
def shifted(x):
    """x + 0."""
    return x + 0.0
