"""A ball or an ellipsoid: a decision set without vertices."""

from functools import cached_property

import numpy as np
from pydantic import Field

from odfl_cli.core.arrays import Array, on_rows
from odfl_cli.core.settings import Positive, PositiveInt, Real, settings

STEPS = 100  # the most Newton steps of a projection; about ten are needed
SHORTEST = 1e-150  # half-axis whose square is a number above 0


@settings
class Ellipsoid:
    """{centre + radius · M u : ‖u‖ ≤ 1} in R^d; without a matrix M, the Euclidean ball.

    M is any invertible matrix; of its singular value decomposition U S Vᵀ only the axes U and
    their lengths S matter.
    """

    dimension: PositiveInt
    centre: Real | tuple[Real, ...] = 0.0
    radius: Positive = 1.0
    matrix: tuple[tuple[Real, ...], ...] | None = Field(default=None)
    constant_sum = False

    def __post_init__(self) -> None:
        d = self.dimension
        if isinstance(self.centre, tuple) and len(self.centre) != d:
            raise ValueError(f"polytope.centre has {len(self.centre)} numbers; give one, or {d}")
        rows = self.matrix
        if rows is not None and (len(rows) != d or {len(row) for row in rows} != {d}):
            raise ValueError(f"polytope.matrix should have {d} rows of {d} numbers")
        if self._lengths.min() <= 1e-9 * self._lengths.max():
            raise ValueError("polytope.matrix should be invertible")
        if self.reach < SHORTEST:
            raise ValueError(
                f"polytope.radius={self.radius:g}: half-axes of {SHORTEST:g} or more are needed"
            )

    @property
    def reach(self) -> float:
        """The largest distance from the centre."""
        return float(self._lengths.max())

    def interior_point(self) -> np.ndarray:
        return np.full(self.dimension, self.centre)

    def contains(self, w: Array, tolerance: float = 1e-9) -> Array:
        """True if w lies in W, or within `tolerance` of it relative to its axes, [...]."""
        scaled = (w - self.interior_point()) @ self._axes / self._lengths
        return (scaled**2).sum(-1) <= (1.0 + tolerance) ** 2

    def minimise(self, costs: Array) -> Array:
        """centre − r M Mᵀ c / ‖Mᵀ c‖, [..., d]; the centre if c = 0."""
        return on_rows(self._minimise_rows, costs)

    def project(self, points: Array) -> Array:
        """The nearest points of W, [..., d]."""
        return on_rows(lambda rows: self._project_rows(rows)[0], points)

    def project_vjp(self, points: Array, v: Array) -> Array:
        """(∂ project / ∂ points)ᵀ v, [..., d]; the Jacobian is symmetric."""
        return on_rows(self._vjp_rows, points, v)

    def _minimise_rows(self, costs: np.ndarray) -> np.ndarray:
        slopes = self._lengths * _rotate(costs, self._axes)
        norms = np.sqrt((slopes**2).sum(-1, keepdims=True))
        far = self._lengths * slopes / np.where(norms > 0, norms, 1.0)
        return self.interior_point() - _rotate(far, self._axes.T)

    def _project_rows(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The nearest points, the same in axes from the centre, and the multiplier λ, 0 inside.

        With a_i the lengths, w_i = a_i² y_i/(a_i² + λ) and Σ (a_i y_i/(a_i² + λ))² = 1 outside. Newton steps
        for 1/‖·‖ = 1 increase from λ = 0 to the root; every row stops on its own.
        """
        a, y = self._lengths, _rotate(points - self.interior_point(), self._axes)
        multiplier = np.zeros((len(y), 1))
        moving = ((y / a) ** 2).sum(-1) > 1.0
        for _ in range(STEPS):
            if not moving.any():
                break
            bent = a**2 + multiplier[moving]
            terms = (a * y[moving] / bent) ** 2
            size = np.sqrt(terms.sum(-1, keepdims=True))
            step = (size - 1.0) * size**2 / (terms / bent).sum(-1, keepdims=True)
            before = multiplier[moving]
            multiplier[moving] = before + np.maximum(step, 0.0)
            moving[moving] = (step > 1e-15 * (before + a.min() ** 2))[:, 0]
        w = a**2 * y / (a**2 + multiplier)
        return self.interior_point() + _rotate(w, self._axes.T), w, multiplier

    def _vjp_rows(self, points: np.ndarray, v: np.ndarray) -> np.ndarray:
        """B⁻¹v minus its part along B⁻¹n, with B = 1 + λ/a² and the normal n = w/a²; v itself inside."""
        _, w, multiplier = self._project_rows(points)
        a, turned = self._lengths, _rotate(v, self._axes)
        shrink, normal = a**2 / (a**2 + multiplier), w / a**2
        along = shrink * normal
        share = (along * turned).sum(-1, keepdims=True) / np.maximum(
            (along * normal).sum(-1, keepdims=True), np.finfo(float).tiny
        )
        product = shrink * turned - np.where(multiplier > 0, share, 0.0) * along
        return _rotate(product, self._axes.T)

    @cached_property
    def _axes(self) -> np.ndarray:
        return self._decomposition[0]

    @cached_property
    def _lengths(self) -> np.ndarray:
        return self.radius * self._decomposition[1]

    @cached_property
    def _decomposition(self) -> tuple[np.ndarray, np.ndarray]:
        if self.matrix is None:
            return np.eye(self.dimension), np.ones(self.dimension)
        return np.linalg.svd(np.array(self.matrix))[:2]


def _rotate(rows: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """rows @ axes, each row by itself: a matrix product may round a row differently beside others."""
    return (rows[:, :, None] * axes).sum(1)
