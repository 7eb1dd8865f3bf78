"""What kernels do with four seeds side by side in one register: the functions of `registers`.

That module is imported when they are compiled, by odfl_cli.core.compiling, into kernels, for it needs numba.
"""

import numpy as np

from odfl_cli.core.compiling import deferred

LANES = 4
"""Doubles in a register of 256 bits; wider ones would often be filled by half."""

spread, load, store, root, where_less, any_less, low_bits_as_exponent = (
    deferred("odfl_cli.engine.kernels.registers", name)
    for name in (
        "spread",
        "load",
        "store",
        "root",
        "where_less",
        "any_less",
        "low_bits_as_exponent",
    )
)


def in_lanes(values: np.ndarray) -> np.ndarray:
    """Values [n, S ≤ LANES] of seeds as registers [n, LANES]; lanes without a seed repeat the last one."""
    return values.take(np.minimum(np.arange(LANES), values.shape[1] - 1), axis=1)
