"""What kernels do with four seeds side by side in one register: the functions of `registers`.

That module is imported when they are compiled, by odfl_cli.core.compiling, into kernels, for it needs numba.
"""

import numpy as np

from odfl_cli.core.compiling import Part, deferred

LANES = 4
"""Doubles in a register of 256 bits; wider ones would often be filled by half."""

WIDE = 4 * LANES
"""Doubles in four registers, or short floats in two: enough to compute with while others are awaited."""


def _of_registers(name: str) -> Part:
    return deferred("odfl_cli.engine.kernels.registers", name)


spread, load, store, root = map(_of_registers, ("spread", "load", "store", "root"))
spread_wide, load_wide, spread_short, load_short = map(
    _of_registers, ("spread_wide", "load_wide", "spread_short", "load_short")
)
where_less, any_less, low_bits_as_exponent = map(
    _of_registers, ("where_less", "any_less", "low_bits_as_exponent")
)


def in_lanes(values: np.ndarray) -> np.ndarray:
    """Values [n, S ≤ LANES] of seeds as registers [n, LANES]; lanes without a seed repeat the last one."""
    return values.take(np.minimum(np.arange(LANES), values.shape[1] - 1), axis=1)
