"""The log barrier, four rows of a batch at a time."""

import numpy as np
from numba import f8, i8, types, void

from odfl_cli.core.compiling import kernel
from odfl_cli.core.lanes import LANES, gather_rows, load, scatter_rows, store
from odfl_cli.problem.regularizers.barrier import Barrier
from odfl_cli.problem.regularizers.newton import smooth, vjp, workspace

INTS, FLOATS, ROWS = i8[::1], f8[::1], f8[:, ::1]
BARRIER = types.NamedTuple(
    (
        INTS, FLOATS, FLOATS, INTS, INTS, FLOATS, INTS, INTS, INTS, INTS, INTS, FLOATS,
        FLOATS, FLOATS, f8,
    ),
    Barrier,
)  # fmt: skip


@kernel(void(BARRIER, ROWS, ROWS, ROWS, ROWS))
def smooth_rows(barrier, g, alpha, w, report):
    """w = w̃ for every row of g [N, d] and α [N, 1]; `report` [N, 2] = Newton steps and residual."""
    work, some = workspace(barrier, (LANES,)), np.empty((g.shape[1], LANES))
    alphas, reports = np.empty((1, LANES)), np.empty((2, LANES))
    for first in range(0, g.shape[0], LANES):
        gather_rows(g, first, some)
        gather_rows(alpha, first, alphas)
        steps, residual = smooth(barrier, work, some, load(alphas, (0,)), work.w)
        store(reports, (0,), steps)
        store(reports, (1,), residual)
        scatter_rows(work.w, first, w)
        scatter_rows(reports, first, report)


@kernel(void(BARRIER, ROWS, ROWS, ROWS, ROWS))
def vjp_rows(barrier, w, alpha, v, out):
    """out = −(1/α) H⁻¹ v within the equalities for every row; w [N, d] are the decisions w̃, α [N, 1]."""
    work, some = workspace(barrier, (LANES,)), np.empty((v.shape[1], LANES))
    alphas, found = np.empty((1, LANES)), np.empty((v.shape[1], LANES))
    for first in range(0, v.shape[0], LANES):
        gather_rows(v, first, some)
        gather_rows(alpha, first, alphas)
        gather_rows(w, first, work.w)
        vjp(barrier, work, work.w, load(alphas, (0,)), some, found)
        scatter_rows(found, first, out)
