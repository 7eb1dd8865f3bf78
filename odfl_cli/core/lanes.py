"""What kernels do with four numbers side by side in one register: the functions of `registers`.

Most take plain floats too, so that a function that is written with them computes one case or four.

That module is imported when they are compiled, by odfl_cli.core.compiling, into kernels, for it needs numba.
"""

import numpy as np

from odfl_cli.core.compiling import Part, deferred, exact

LANES = 4
"""Doubles in a register of 256 bits; wider ones would often be filled by half."""

WIDE = 4 * LANES
"""Doubles in four registers, or short floats in two: enough to compute with while others are awaited."""


def _of_registers(name: str) -> Part:
    return deferred("odfl_cli.core.registers", name)


spread, load, store, zero_like, root, log = map(
    _of_registers, ("spread", "load", "store", "zero_like", "root", "log")
)
spread_wide, load_wide, spread_short, load_short = map(
    _of_registers, ("spread_wide", "load_wide", "spread_short", "load_short")
)
where_less, any_less, low_bits_as_exponent = map(
    _of_registers, ("where_less", "any_less", "low_bits_as_exponent")
)


def in_lanes(values: np.ndarray) -> np.ndarray:
    """Values [n, S ≤ LANES] of seeds as registers [n, LANES]; lanes without a seed repeat the last one."""
    return values.take(np.minimum(np.arange(LANES), values.shape[1] - 1), axis=1)


@exact
def gather_rows(rows, first, out):
    """out [n, lanes] = the rows [N, n] from `first` on; lanes without a row repeat the last one."""
    for lane in range(out.shape[1]):
        row = min(first + lane, rows.shape[0] - 1)
        for i in range(out.shape[0]):
            out[i, lane] = rows[row, i]


@exact
def scatter_rows(values, first, rows):
    """The rows [N, n] from `first` on = values [n, lanes]; lanes without a row are left out."""
    for lane in range(min(values.shape[1], rows.shape[0] - first)):
        for i in range(values.shape[0]):
            rows[first + lane, i] = values[i, lane]
