"""The covariates of the sin⁴ data and their expected costs, compiled."""

import numpy as np
from numba import f8, void

from odfl_cli.core.compiling import exact, kernel


@exact
def correlate_items(X, rho, innovation):
    """x_i = innovation · z_i + ρ x_{i−1} in place of z [K, p]; x_0 = z_0."""
    for i in range(1, X.shape[0]):
        for j in range(X.shape[1]):
            X[i, j] = X[i, j] * innovation + rho * X[i - 1, j]


@kernel(void(f8[:, :, ::1], f8, f8))
def correlate(X, rho, innovation):
    """Applies `correlate_items` to every round of X [B, K, p] in place."""
    for t in range(X.shape[0]):
        correlate_items(X[t], rho, innovation)


@exact
def along(row, j, share):
    """Interpolates linearly between row[j] and row[j + 1]."""
    return row[j] + share * (row[j + 1] - row[j])


@exact
def at(values, reach, widest, mean, deviation):
    """The tabulated function at one point; exact, so that its place in a vector changes no bit."""
    levels, cells = values.shape
    column = (mean + reach) * (cells / (2 * reach)) - 0.5
    level = (levels - 1) * np.sqrt(deviation / widest)
    column, level = min(max(column, 0.0), cells - 1.001), min(level, levels - 1.001)
    i, j = int(level), int(column)
    low, high = along(values[i], j, column - j), along(values[i + 1], j, column - j)
    return low + (level - i) * (high - low)


@kernel(void(f8[:, ::1], f8, f8, f8[::1], f8[::1], f8[::1]))
def interpolate(values, reach, widest, mean, deviation, out):
    """out = the function of `mean` ∈ [−reach, reach] and `deviation` ∈ [0, widest] tabulated in `values`.

    Columns are evenly spaced in the mean, rows in the root of the deviation; arguments are clamped.
    """
    for n in range(len(mean)):
        out[n] = at(values, reach, widest, mean[n], deviation[n])
