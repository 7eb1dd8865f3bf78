"""The logarithmic barrier on any polytope: smoothed decisions strictly inside (equation 8)."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from pydantic import SkipValidation

from odfl_cli.arrays import Array, array_namespace, to_numpy
from odfl_cli.errors import RowError
from odfl_cli.kernel_cache import load_kernel
from odfl_cli.polytopes import Polytope
from odfl_cli.settings import Positive, settings

NEWTON = "odfl_cli.regularizers.newton"


class Rows(NamedTuple):
    """A matrix by rows: the entries of row i are starts[i] … starts[i + 1]."""

    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray


@settings
class LogBarrier:
    """R(w) = −Σ ln(b_i − A_i w), by damped Newton to a gradient of at most `tolerance`."""

    polytope: SkipValidation[Polytope]
    tolerance: Positive = 1e-9

    @property
    def suboptimality(self) -> float:
        """n, the number of faces: the barrier's own bound."""
        return float(self.polytope.face_count)

    def __post_init__(self) -> None:
        A, _ = self.polytope.faces()
        bounded = (A[(A != 0).sum(1) == 1] != 0).any(0)
        if not bounded.all():
            raise ValueError(
                f"the log barrier needs a bound on every item; item {int((~bounded).argmax())} of "
                "the polytope has none (add a redundant one to A and b)"
            )

    @cached_property
    def matrices(self) -> tuple:
        """A by rows; the equalities C and the faces that are no bounds, by rows; e of C w = e."""
        A, _ = self.polytope.faces()
        C, e = self.polytope.equalities()
        return (*by_rows(A), *by_rows(np.vstack([C, A[(A != 0).sum(1) > 1]])), e)

    @cached_property
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """Where Newton starts: the polytope's interior point and its slacks."""
        A, b = self.polytope.faces()
        centre = self.polytope.interior_point()
        return centre, b - A @ centre

    def smooth(self, g: Array, alpha: Array) -> Array:
        """w̃_α(g), strictly inside W."""
        rows, alphas = as_rows(g, alpha)
        w = np.empty_like(rows)
        steps, residuals = np.empty(len(rows), np.int64), np.empty(len(rows))
        load_kernel(NEWTON).barrier_decisions(
            rows, alphas, *self.matrices, *self.start, self.tolerance, w, steps, residuals
        )
        stuck = np.flatnonzero(~(residuals <= max(self.tolerance, 1e-8)))
        if len(stuck):
            worst = stuck[0]
            raise RowError(
                int(worst),
                len(rows),
                f"the log barrier's Newton steps stopped at a residual of {residuals[worst]:.1e} "
                f"with alpha = {alphas[worst]:.1e}; a larger c_alpha helps",
            )
        return like(g, w)

    def vjp(self, w: Array, alpha: Array, v: Array) -> Array:
        """−(1/α) H⁻¹ v in the affine hull, H = Σ s_i⁻² A_i A_iᵀ; H⁻¹ is never formed."""
        A, b = self.polytope.faces()
        v = v + 0.0 * w
        rows, alphas = as_rows(v, alpha)
        decisions, _ = as_rows(w, alpha)
        slacks = np.ascontiguousarray(b - np.einsum("rd,nd->rn", decisions, A))
        out = np.empty_like(rows)
        load_kernel(NEWTON).barrier_vjps(rows, alphas, slacks, *self.matrices, out)
        return like(v, out)


def by_rows(matrix: np.ndarray) -> Rows:
    """Compressed rows of a dense matrix."""
    rows, columns = np.nonzero(matrix)
    starts = np.searchsorted(rows, np.arange(len(matrix) + 1))
    return Rows(starts.astype(np.int64), columns.astype(np.int64), matrix[rows, columns])


def as_rows(values: Array, alpha: Array) -> tuple[np.ndarray, np.ndarray]:
    """values [..., d] as [rows, d] and alpha, which broadcasts against them, as [rows]."""
    array = to_numpy(values).astype(np.float64)
    alphas = np.broadcast_to(to_numpy(alpha).astype(np.float64), (*array.shape[:-1], 1))
    rows = np.array(array.reshape(-1, array.shape[-1]))
    return rows, np.array(alphas.reshape(-1))


def like(original: Array, rows: np.ndarray) -> Array:
    """Rows in the shape, library and place of the original."""
    xp = array_namespace(original)
    shaped = rows.reshape(original.shape)
    return xp.asarray(shaped, dtype=original.dtype, device=original.device)
