"""The projection onto a weighted sum, row by row."""

import numpy as np
from numba import f8, i8, void

from odfl_cli.core.compiling import kernel
from odfl_cli.problem.regularizers.sum_projection import project, tangent, unpacked

MATRIX = f8[:, ::1]


@kernel(void(MATRIX, MATRIX, i8[::1], f8[::1], MATRIX))
def project_rows(g, alpha, ints, floats, w):
    """The points nearest to w₀ − g/α, for g [rows, d] and alpha [rows, 1]."""
    polytope, scratch = unpacked(ints, floats), np.empty(g.shape[1])
    for row in range(g.shape[0]):
        project(polytope, g[row], alpha[row, 0], scratch, w[row])


@kernel(void(MATRIX, MATRIX, i8[::1], f8[::1], MATRIX))
def tangent_rows(w, v, ints, floats, out):
    """v [rows, d] projected onto the directions in which w can move."""
    polytope = unpacked(ints, floats)
    for row in range(w.shape[0]):
        tangent(polytope, w[row], v[row], out[row])
