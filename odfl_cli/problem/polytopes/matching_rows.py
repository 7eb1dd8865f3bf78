"""Assignments, row by row."""

from numba import f8, i8, void

from odfl_cli.core.compiling import kernel
from odfl_cli.problem.polytopes.matching import assign


@kernel(void(i8, f8[:, ::1], f8[:, ::1]))
def assign_rows(n, costs, w):
    """A permutation matrix of least cost for every row of costs [rows, n²]."""
    for row in range(costs.shape[0]):
        assign(n, costs[row], w[row])
