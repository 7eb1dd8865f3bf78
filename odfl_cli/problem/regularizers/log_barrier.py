"""The logarithmic barrier on any polytope: smoothed decisions strictly inside (equation 8)."""

from functools import cached_property

import numpy as np
from pydantic import SkipValidation

from odfl_cli.core.arrays import Array, array_namespace, to_numpy
from odfl_cli.core.errors import RowError
from odfl_cli.core.kernel_cache import load_kernel
from odfl_cli.core.settings import Positive, settings
from odfl_cli.problem.polytopes import Polytope
from odfl_cli.problem.regularizers.barrier import barrier_of, bounded_faces, packed
from odfl_cli.problem.regularizers.projection import null_space

ROWS = "odfl_cli.problem.regularizers.barrier_rows"
GOOD_ENOUGH = 1e-8
"""A residual up to this size may be due to rounding and is not an error."""


@settings
class LogBarrier:
    """R(w) = −Σ ln(b_i − A_i w), by damped Newton to a gradient of at most `tolerance`."""

    polytope: SkipValidation[Polytope]
    tolerance: Positive = 1e-9
    kernel = "log_barrier"
    in_paper = True

    @property
    def suboptimality(self) -> float:
        """n, the number of faces: the barrier's own bound."""
        return float(len(bounded_faces(self.polytope)[1]))

    @property
    def steepness(self) -> float:
        """sup_{w∈W} ‖b − A w‖²_∞ / λ_min(AᵀA), λ_min over the directions that the equalities leave.

        The square is missing in the lemma's statement; its proof has it.
        """
        A, b = self.polytope.faces()
        slack = (b - (A * self.polytope.minimise(A)).sum(-1)).max()
        free = A @ null_space(self.polytope.equalities()[0], A.shape[1])
        return float(slack**2 / np.linalg.eigvalsh(free.T @ free).min())

    @cached_property
    def packed(self) -> tuple[np.ndarray, np.ndarray]:
        """The polytope and the tolerance as integers and floats for kernels."""
        return packed(barrier_of(self.polytope, self.tolerance))

    def smooth(self, g: Array, alpha: Array) -> Array:
        """w̃_α(g), strictly inside W."""
        return self.smooth_counting(g, alpha)[0]

    def smooth_counting(self, g: Array, alpha: Array) -> tuple[Array, np.ndarray]:
        """w̃_α(g) and how many Newton steps every row of g took, [rows]."""
        rows, alphas = as_rows(g, alpha)
        w = np.empty_like(rows)
        steps, residuals = np.empty(len(rows), np.int64), np.empty(len(rows))
        load_kernel(ROWS).barrier_decisions(rows, alphas, *self.packed, w, steps, residuals)
        stuck = np.flatnonzero(~(residuals <= max(self.tolerance, GOOD_ENOUGH)))
        if len(stuck):
            worst = stuck[0]
            raise RowError(int(worst), len(rows), failure(residuals[worst], alphas[worst]))
        return like(g, w), steps

    def vjp(self, w: Array, alpha: Array, v: Array) -> Array:
        """−(1/α) H⁻¹ v in the affine hull, H = Σ s_i⁻² A_i A_iᵀ; H⁻¹ is never formed."""
        v = v + 0.0 * w
        rows, alphas = as_rows(v, alpha)
        decisions, _ = as_rows(w + 0.0 * v, alpha)
        out = np.empty_like(rows)
        load_kernel(ROWS).barrier_vjps(rows, alphas, decisions, *self.packed, out)
        return like(v, out)


def failure(residual: float, alpha: float) -> str:
    """The message for a residual that is too large."""
    return (
        f"the log barrier's Newton steps stopped at a residual of {residual:.1e} "
        f"with alpha = {alpha:.1e}; a larger c_alpha helps"
    )


def as_rows(values: Array, alpha: Array) -> tuple[np.ndarray, np.ndarray]:
    """values [..., d] as [rows, d] and alpha, which broadcasts against them, as [rows]."""
    array = to_numpy(values).astype(np.float64)
    alphas = np.broadcast_to(to_numpy(alpha).astype(np.float64), (*array.shape[:-1], 1))
    rows = np.array(array.reshape(-1, array.shape[-1]))
    return rows, np.array(alphas.reshape(-1))


def like(original: Array, rows: np.ndarray) -> Array:
    """Rows in the shape, library and device of the original."""
    xp = array_namespace(original)
    shaped = rows.reshape(original.shape)
    return xp.asarray(shaped, dtype=original.dtype, device=original.device)
