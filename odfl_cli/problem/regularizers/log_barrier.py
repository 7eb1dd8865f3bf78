"""The logarithmic barrier on any polytope: smoothed decisions strictly inside (equation 8)."""

from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

import numpy as np
from pydantic import SkipValidation

from odfl_cli.core.arrays import Array, on_rows
from odfl_cli.core.errors import RowError
from odfl_cli.core.settings import Positive, settings
from odfl_cli.problem.polytopes.linear import Polytope, check_faces
from odfl_cli.problem.regularizers.base import alpha_column
from odfl_cli.problem.regularizers.projection import null_space

GOOD_ENOUGH = 1e-8
"""A residual up to this size may be due to rounding and is not an error."""


class Barrier(NamedTuple):
    """Faces that touch one item (bounds), and E = [C; G] of the equalities C w = e and other faces G.

    Row i of E has its entries at starts[i] … starts[i + 1]. E D⁻¹ Eᵀ is not zero, on the diagonal and
    below, at the places (row[k], column[k]); there it is the sum of term_values[a] / D of term_items[a],
    a from terms[k] to terms[k + 1].
    """

    items: np.ndarray  # of every bound, the item
    slopes: np.ndarray  # and its coefficient
    right: np.ndarray  # b of A w ≤ b: bounds first, then G
    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    first: np.ndarray  # of every row of E D⁻¹ Eᵀ, the first column that is not zero
    row: np.ndarray
    column: np.ndarray
    terms: np.ndarray
    term_items: np.ndarray
    term_values: np.ndarray
    e: np.ndarray
    centre: np.ndarray  # where Newton starts, strictly inside
    tolerance: float


@settings
class LogBarrier:
    """R(w) = −Σ ln(b_i − A_i w), by damped Newton to a gradient of at most `tolerance`."""

    polytope: SkipValidation[Polytope]
    tolerance: Positive = 1e-9
    in_paper = True

    def __post_init__(self) -> None:
        check_faces(self.polytope, "regularizer=log_barrier", "choose regularizer=perturbed")

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
        return on_rows(self._smooth_rows, g, alpha_column(alpha))

    def vjp(self, w: Array, alpha: Array, v: Array) -> Array:
        """−(1/α) H⁻¹ v in the affine hull, H = Σ s_i⁻² A_i A_iᵀ; H⁻¹ is never formed."""
        return on_rows(self._vjp_rows, w, v, alpha_column(alpha))

    def _smooth_rows(self, g: np.ndarray, alpha: np.ndarray) -> np.ndarray:
        """w̃ for rows g [N, d], α [N, 1], [N, d]."""
        out, residuals = np.empty_like(g), np.empty(len(g))
        self._rows.smooth_rows(self.barrier, g, alpha, out, residuals)
        if not residuals.max() <= max(self.tolerance, GOOD_ENOUGH):
            row = int(np.argmin(residuals <= max(self.tolerance, GOOD_ENOUGH)))
            message = (
                f"the log barrier's Newton steps stopped at a residual of {residuals[row]:.1e} "
                f"with alpha = {alpha[row, 0]:.1e}; a larger c_alpha helps"
            )
            raise RowError(row, len(g), message)
        return out

    def _vjp_rows(self, w: np.ndarray, v: np.ndarray, alpha: np.ndarray) -> np.ndarray:
        """The products for rows w and v [N, d], α [N, 1], [N, d]."""
        out = np.empty_like(v)
        self._rows.vjp_rows(self.barrier, w, alpha, v, out)
        return out

    @cached_property
    def _rows(self) -> ModuleType:
        """The compiled functions; numba is imported when they are first called."""
        return import_module("odfl_cli.problem.regularizers.newton")


def barrier_of(polytope: Polytope, tolerance: float) -> Barrier:
    """The polytope's faces and equalities, sorted and compressed."""
    (A, b), (C, e) = bounded_faces(polytope), polytope.equalities()
    is_bound = (A != 0).sum(1) == 1
    bounds, G = A[is_bound], A[~is_bound]
    bound, items = np.nonzero(bounds)
    E = np.vstack([C, G])
    rows, columns = np.nonzero(E)
    meetings = [np.argwhere(E[: i + 1] * E[i]) for i in range(len(E))]
    row = np.repeat(np.arange(len(E)), [len(with_earlier) for with_earlier in meetings])
    column, term_items = np.concatenate([np.empty((0, 2), np.int64), *meetings]).T
    new = np.flatnonzero(np.diff(row * len(E) + column, prepend=-1))
    return Barrier(
        items=np.ascontiguousarray(items),
        slopes=bounds[bound, items],
        right=np.concatenate([b[is_bound], b[~is_bound]]),
        starts=np.searchsorted(rows, np.arange(len(E) + 1)),
        columns=np.ascontiguousarray(columns),
        values=E[rows, columns],
        first=np.array([with_earlier[:1, 0].sum() for with_earlier in meetings], np.int64),
        row=row[new],
        column=column[new],
        terms=np.append(new, len(row)),
        term_items=np.ascontiguousarray(term_items),
        term_values=E[row, term_items] * E[column, term_items],
        e=np.array(e, dtype=np.float64),
        centre=np.array(polytope.interior_point(), dtype=np.float64),
        tolerance=tolerance,
    )


def bounded_faces(polytope: Polytope) -> tuple[np.ndarray, np.ndarray]:
    """The polytope's faces, and a lower bound for every item that has none of its own.

    Newton's steps divide by what bounds add to the Hessian. An added bound is as far below the
    item's least value as that is below its largest, so it is redundant and changes w̃ little.
    """
    A, b = polytope.faces()
    bare = np.flatnonzero(~(A[(A != 0).sum(1) == 1] != 0).any(0))
    if not len(bare):
        return A, b
    units = np.eye(polytope.dimension)[bare]
    lowest, largest = (
        np.take_along_axis(polytope.minimise(sign * units), bare[:, None], axis=1)[:, 0]
        for sign in (1.0, -1.0)
    )
    extent = np.where(largest > lowest, largest - lowest, 1.0)
    return np.vstack([A, -units]), np.concatenate([b, extent - lowest])
