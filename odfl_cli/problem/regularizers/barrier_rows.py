"""The log barrier, four rows of a batch at a time."""

import numpy as np
from numba import f8, i8, void

from odfl_cli.core.compiling import kernel
from odfl_cli.core.lanes import LANES, gather_rows, load, scatter_rows, store
from odfl_cli.problem.regularizers.newton import smooth, unpacked, vjp, workspace


@kernel(void(f8[:, ::1], f8[:, ::1], i8[::1], f8[::1], f8[:, ::1], f8[:, ::1]))
def barrier_decisions(g, alpha, ints, floats, w, told):
    """w̃ of every row of g [rows, d] and α [rows, 1] for a packed barrier. Rows are independent.

    `told` [rows, 2] are the Newton steps and the residual.
    """
    barrier = unpacked(ints, floats)
    work, some = workspace(barrier, (LANES,)), np.empty((g.shape[1], LANES))
    alphas, tells = np.empty((1, LANES)), np.empty((2, LANES))
    for first in range(0, g.shape[0], LANES):
        gather_rows(g, first, some)
        gather_rows(alpha, first, alphas)
        steps, residual = smooth(barrier, work, some, load(alphas, (0,)), work.w)
        store(tells, (0,), steps)
        store(tells, (1,), residual)
        scatter_rows(work.w, first, w)
        scatter_rows(tells, first, told)


@kernel(void(f8[:, ::1], f8[:, ::1], f8[:, ::1], i8[::1], f8[::1], f8[:, ::1]))
def barrier_vjps(v, alpha, w, ints, floats, out):
    """−(1/α) H⁻¹ v within the equalities for every row; w [rows, d] are the decisions w̃, α [rows, 1]."""
    barrier = unpacked(ints, floats)
    work, some = workspace(barrier, (LANES,)), np.empty((v.shape[1], LANES))
    alphas, found = np.empty((1, LANES)), np.empty((v.shape[1], LANES))
    for first in range(0, v.shape[0], LANES):
        gather_rows(v, first, some)
        gather_rows(alpha, first, alphas)
        gather_rows(w, first, work.w)
        vjp(barrier, work, work.w, load(alphas, (0,)), some, found)
        scatter_rows(found, first, out)
