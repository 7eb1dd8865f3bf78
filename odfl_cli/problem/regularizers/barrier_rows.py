"""The log barrier, one row of a batch after another. Import through odfl_cli.core.kernel_cache."""

from odfl_cli.core.compiling import kernel
from odfl_cli.core.signatures import f8, i8, void
from odfl_cli.problem.regularizers.newton import smooth, unpacked, vjp, workspace


@kernel(void(f8[:, ::1], f8[::1], i8[::1], f8[::1], f8[:, ::1], i8[::1], f8[::1]))
def barrier_decisions(g, alpha, ints, floats, w, steps, residuals):
    """w̃ of every row of g [rows, d] for a packed barrier. Rows are independent."""
    barrier = unpacked(ints, floats)
    work = workspace(barrier)
    for row in range(g.shape[0]):
        steps[row], residuals[row] = smooth(barrier, work, g[row], alpha[row], w[row])


@kernel(void(f8[:, ::1], f8[::1], f8[:, ::1], i8[::1], f8[::1], f8[:, ::1]))
def barrier_vjps(v, alpha, w, ints, floats, out):
    """−(1/α) H⁻¹ v within the equalities for every row; w [rows, d] are the decisions w̃."""
    barrier = unpacked(ints, floats)
    work = workspace(barrier)
    for row in range(v.shape[0]):
        vjp(barrier, work, w[row], alpha[row], v[row], out[row])
