"""Euclidean projections onto polytopes, and the tangent spaces where they end.

Both classes project the points w₀ − g/α, with w₀ the interior point of the set, for rows g [N, d] and
alpha [N, 1]. They take g and α separately: at tiny α the point is far away, and only its differences
along the set keep their digits.
"""

from typing import NamedTuple

import numpy as np

from odfl_cli.core.errors import RowError
from odfl_cli.problem.polytopes.linear import Polytope

ACTIVE = 1e-9  # a constraint with at most this slack, relative to its bound, is active
RANK = 1e-10  # singular values below this share of the largest are zero
ROUNDING = 1e-12  # by which faces are relaxed, so that opposite ones still leave a point
NEAR = 1e3  # up to this distance the active-set method leaves enough digits
FARTHEST = 1e9  # beyond this distance rounding in the active-set method exceeds the set


class WeightedSum(NamedTuple):
    """{lower ≤ w ≤ upper} with at most one sum Σ a_i w_i (= or ≤) total, a > 0: compiled."""

    lower: np.ndarray
    upper: np.ndarray
    a: np.ndarray
    total: float  # inf where nothing is summed
    equal: bool
    centre: np.ndarray  # w₀

    def project(self, g: np.ndarray, alpha: np.ndarray) -> np.ndarray:
        """The nearest points."""
        from odfl_cli.problem.regularizers.sum_projection import project_rows

        w = np.empty_like(g)
        project_rows(self, g, alpha, w)
        return w

    def tangent(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """v on the coordinates between their bounds, less its part along a if the sum binds."""
        from odfl_cli.problem.regularizers.sum_projection import tangent_rows

        out = np.empty_like(v)
        tangent_rows(self, w, v, out)
        return out


def weighted_sum(polytope: Polytope, extent: tuple[np.ndarray, np.ndarray]) -> WeightedSum | None:
    """The polytope in that form, or None; `extent` replaces missing bounds."""
    (A, b), (C, e) = polytope.faces(), polytope.equalities()
    single = np.count_nonzero(A, axis=1) == 1
    sums, totals = np.vstack([A[~single], C]), np.concatenate([b[~single], e])
    equal = len(C) > 0
    if len(sums) > 1 or not ((sums > 0).all() or (equal and (sums < 0).all())):
        return None
    rows, columns = np.nonzero(A[single])
    entries = A[single][rows, columns]
    bounds = b[single] / entries + 0.0  # −0 becomes 0
    lower, upper = np.full((2, polytope.dimension), [[-np.inf], [np.inf]])
    np.maximum.at(lower, columns[entries < 0], bounds[entries < 0])
    np.minimum.at(upper, columns[entries > 0], bounds[entries > 0])
    lower = np.where(np.isfinite(lower), lower, extent[0])
    upper = np.where(np.isfinite(upper), upper, extent[1])
    if len(sums) == 0:
        a, total = np.ones(polytope.dimension), np.inf
    else:
        sign = np.sign(sums[0, 0])
        a, total = sign * sums[0], float(sign * totals[0])
    return WeightedSum(lower, upper, a, total, equal, polytope.interior_point())


class Faces:
    """{A w ≤ b, C w = e}: the dual active-set method of Goldfarb and Idnani, row by row."""

    def __init__(self, polytope: Polytope) -> None:
        A, b = polytope.faces()
        size = np.linalg.norm(A, axis=1)
        self.A, self.b = A / size[:, None], b / size
        self.C, self.e = polytope.equalities()
        self.one_item = np.count_nonzero(A, axis=1) == 1
        self.item = np.abs(A).argmax(axis=1)
        # w = centre + N z satisfies the equalities, and g's component across them drops out
        self.N = null_space(self.C, A.shape[1])
        self.level = bool(np.abs(self.N.sum(0)).max(initial=0.0) < RANK)
        self.centre = polytope.interior_point()
        self.size = max(1.0, np.abs(self.b).max(), np.abs(self.centre).max())
        self.bound = self.b / self.A[np.arange(len(A)), self.item] + 0.0  # −0 becomes 0
        self.M = self.A @ self.N
        self.slack = self.b - self.A @ self.centre

    def project(self, g: np.ndarray, alpha: np.ndarray) -> np.ndarray:
        """The nearest points; a target beyond FARTHEST is first moved closer along its ray."""
        w = np.empty_like(g)
        for i in range(len(g)):
            try:
                w[i] = self._nearest(self._target(g[i], alpha[i, 0]))
            except ValueError as error:
                message = f"no Euclidean projection at alpha = {alpha[i, 0]:.1e}: {error}"
                raise RowError(i, len(g), message) from error
        return w

    def tangent(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """v projected onto {u : A_i u = 0 for the active i, C u = 0}."""
        out = np.zeros_like(v)
        if self.level:  # equal costs give exactly zero
            v = v - v[:, :1]
        margin = ACTIVE * np.maximum(1.0, np.abs(self.b))
        for i in range(len(v)):
            active = self.b - self.A @ w[i] <= margin
            free, rows, _ = self._restrict(active, np.zeros_like(v[i]))
            basis = null_space(rows, len(free))
            out[i, free] = basis @ (basis.T @ v[i, free])
        return out

    def _target(self, g: np.ndarray, alpha: float) -> np.ndarray:
        """z of −g/α, or of a closer point on the same ray."""
        if not np.isfinite(g).all():
            raise ValueError("the prediction is not finite")
        direction = self.N.T @ (g - g[0] if self.level else g)
        step = max(alpha, np.linalg.norm(direction) / (FARTHEST * self.size))
        return -direction / step

    def _nearest(self, target: np.ndarray) -> np.ndarray:
        """The point of W nearest to centre + N target."""
        z, multipliers = nearest(target, self.M, self.slack)
        w, active = self.centre + self.N @ z, multipliers > 0
        fixed = active & self.one_item
        w[self.item[fixed]] = self.bound[fixed]
        if np.abs(target).max() > NEAR * self.size:
            self._put_on_face(w, active, self.centre + self.N @ target)
        if not (beyond := (self.A @ w - self.b).max()) <= ACTIVE * self.size:
            raise ValueError(f"a constraint is violated by {beyond:.1e}")
        return w

    def _put_on_face(self, w: np.ndarray, active: np.ndarray, point: np.ndarray) -> None:
        """Projects once more, within the face found, which restores the digits lost to the distance."""
        free, rows, rest = self._restrict(active, w)
        basis = null_space(rows, len(free))
        w[free] = np.linalg.lstsq(rows, rest, rcond=RANK)[0] if rows.size else 0.0
        M = self.A[:, free] @ basis
        crossed = np.linalg.norm(M, axis=1) > RANK  # the face lies along the others
        slack = self.b[crossed] - self.A[crossed] @ w + ROUNDING * self.size
        if basis.size:
            w[free] += basis @ nearest(basis.T @ (point[free] - w[free]), M[crossed], slack)[0]

    def _restrict(
        self, active: np.ndarray, w: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The items that no active bound fixes, and the other constraints restricted to them."""
        free = np.ones(len(w), dtype=bool)
        free[self.item[active & self.one_item]] = False
        several = active & ~self.one_item
        rows = np.vstack([self.A[several], self.C])
        rest = np.concatenate([self.b[several], self.e]) - rows[:, ~free] @ w[~free]
        return np.flatnonzero(free), rows[:, free], rest


def null_space(C: np.ndarray, dimension: int) -> np.ndarray:
    """An orthonormal basis of {u : C u = 0}, [d, r]; the identity without equalities."""
    if C.size == 0:
        return np.eye(dimension)
    _, singular, right = np.linalg.svd(C)
    return np.ascontiguousarray(right[int((singular > RANK * singular[0]).sum()) :].T)


def nearest(point: np.ndarray, M: np.ndarray, slack: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """argmin ‖z − point‖ subject to M z ≤ slack, and the multipliers."""
    from quadprog import solve_qp

    solved = solve_qp(np.eye(len(point)), point, -M.T, -slack)
    return solved[0], solved[4]
