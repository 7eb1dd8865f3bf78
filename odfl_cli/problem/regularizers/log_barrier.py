"""The logarithmic barrier on any polytope: smoothed decisions strictly inside (equation 8)."""

from functools import cached_property

import numpy as np
from pydantic import SkipValidation

from odfl_cli.core.arrays import Array, on_rows, to_numpy
from odfl_cli.core.errors import RowError
from odfl_cli.core.settings import Positive, settings
from odfl_cli.problem.polytopes import Polytope
from odfl_cli.problem.regularizers.barrier import Barrier, barrier_of, bounded_faces
from odfl_cli.problem.regularizers.base import alpha_column
from odfl_cli.problem.regularizers.projection import null_space

GOOD_ENOUGH = 1e-8
"""A residual up to this size may be due to rounding and is not an error."""


@settings
class LogBarrier:
    """R(w) = −Σ ln(b_i − A_i w), by damped Newton to a gradient of at most `tolerance`."""

    polytope: SkipValidation[Polytope]
    tolerance: Positive = 1e-9
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
    def barrier(self) -> Barrier:
        """The polytope and the tolerance as Newton's method takes them."""
        return barrier_of(self.polytope, self.tolerance)

    def smooth(self, g: Array, alpha: Array) -> Array:
        """w̃_α(g), strictly inside W."""
        return self.smooth_counting(g, alpha)[0]

    def smooth_counting(self, g: Array, alpha: Array) -> tuple[Array, np.ndarray]:
        """w̃_α(g) and how many Newton steps every row of g took, [rows]."""
        solved = on_rows(self._decisions, g, alpha_column(alpha))
        return solved[..., :-1], to_numpy(solved[..., -1]).reshape(-1).astype(np.int64)

    def vjp(self, w: Array, alpha: Array, v: Array) -> Array:
        """−(1/α) H⁻¹ v in the affine hull, H = Σ s_i⁻² A_i A_iᵀ; H⁻¹ is never formed."""
        return on_rows(self._vjps, w, v, alpha_column(alpha))

    def _decisions(self, g: np.ndarray, alpha: np.ndarray) -> np.ndarray:
        """w̃ and the Newton steps for rows g [N, d], α [N, 1], [N, d + 1]."""
        from odfl_cli.problem.regularizers.barrier_rows import smooth_rows

        w, report = np.empty_like(g), np.empty((len(g), 2))
        smooth_rows(self.barrier, g, alpha, w, report)
        steps, residuals = report.T
        stuck = np.flatnonzero(~(residuals <= max(self.tolerance, GOOD_ENOUGH)))
        if len(stuck):
            first = int(stuck[0])
            raise RowError(first, len(g), failure(residuals[first], alpha[first, 0]))
        return np.column_stack([w, steps])

    def _vjps(self, w: np.ndarray, v: np.ndarray, alpha: np.ndarray) -> np.ndarray:
        """The products for rows w and v [N, d], α [N, 1], [N, d]."""
        from odfl_cli.problem.regularizers.barrier_rows import vjp_rows

        out = np.empty_like(v)
        vjp_rows(self.barrier, w, alpha, v, out)
        return out


def failure(residual: float, alpha: float) -> str:
    """The message for a residual that is too large."""
    return (
        f"the log barrier's Newton steps stopped at a residual of {residual:.1e} "
        f"with alpha = {alpha:.1e}; a larger c_alpha helps"
    )
