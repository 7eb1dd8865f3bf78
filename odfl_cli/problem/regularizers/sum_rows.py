"""The projection onto a weighted sum, row by row. Import through odfl_cli.core.kernel_cache."""

import numpy as np

from odfl_cli.core.compiling import kernel
from odfl_cli.core.signatures import f8, i8, void
from odfl_cli.problem.regularizers import sum_projection

MATRIX = f8[:, ::1]


@kernel(void(MATRIX, MATRIX, i8[::1], f8[::1], MATRIX))
def project(g, alpha, ints, floats, w):
    """The points nearest to w₀ − g/α, for g [rows, d] and alpha [rows, 1]."""
    polytope, scratch = sum_projection.unpacked(ints, floats), np.empty(g.shape[1])
    for row in range(g.shape[0]):
        sum_projection.project(polytope, g[row], alpha[row, 0], scratch, w[row])


@kernel(void(MATRIX, MATRIX, i8[::1], f8[::1], MATRIX))
def tangent(w, v, ints, floats, out):
    """v [rows, d] projected onto the directions in which w can move."""
    polytope = sum_projection.unpacked(ints, floats)
    for row in range(w.shape[0]):
        sum_projection.tangent(polytope, w[row], v[row], out[row])
