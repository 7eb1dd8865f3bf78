"""eˣ in plain arithmetic: a loop over it becomes vector instructions, a loop over calls of the C library does not."""

import math

from odfl_cli.core.compiling import exact
from odfl_cli.core.lanes import low_bits_as_exponent, where_less

LEAST = -708.0
"""A little above ln(2⁻¹⁰²²), below which eˣ is subnormal."""

LOG2_E = 1.4426950408889634
LN2, LN2_REST = 0.693145751953125, 1.4286068203094173e-06
"""ln 2 in two parts, the first so short that its multiples by whole numbers are exact."""

SHIFT = 1.5 * 2.0**52 + 1023.0
"""x / ln 2 + SHIFT is rounded to a whole number, n + SHIFT, whose lowest bits are those of n + 1023: the
exponent of 2ⁿ as a float stores it."""

C = tuple(1.0 / math.factorial(k) for k in range(14))


@exact
def exp(x):
    """eˣ for x ≤ 0, a float or lanes, to one unit in the last place; 0 below LEAST, NaN of NaN.

    eˣ = 2ⁿ eʳ with n = round(x / ln 2), so that |r| ≤ ln 2 / 2, where Taylor's series is short.
    """
    shifted = x * LOG2_E + SHIFT
    n = shifted - SHIFT
    r = (x - n * LN2) - n * LN2_REST
    r2 = r * r
    r4 = r2 * r2
    low = (C[2] + C[3] * r) + (C[4] + C[5] * r) * r2
    middle = (C[6] + C[7] * r) + (C[8] + C[9] * r) * r2
    high = (C[10] + C[11] * r) + (C[12] + C[13] * r) * r2
    series = 1.0 + (r + r2 * (low + r4 * (middle + r4 * high)))
    return where_less(x, LEAST, 0.0, low_bits_as_exponent(shifted) * series)
