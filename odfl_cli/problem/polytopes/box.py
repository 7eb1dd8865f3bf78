"""A box: every coordinate of a decision depends on the sign of its own cost."""

import numpy as np

from odfl_cli.core.settings import PositiveInt, Real, settings
from odfl_cli.problem.polytopes.linear import LinearSet


@settings
class Box(LinearSet):
    """{lower ≤ w ≤ upper} in R^d; a bound is one number or one per coordinate."""

    dimension: PositiveInt
    lower: Real | tuple[Real, ...] = 0.0
    upper: Real | tuple[Real, ...] = 1.0

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            bound = getattr(self, name)
            if isinstance(bound, tuple) and len(bound) != self.dimension:
                raise ValueError(
                    f"polytope.{name} has {len(bound)} numbers; give one, or {self.dimension}"
                )
        lower, upper = self._bounds()
        if wrong := np.flatnonzero(lower >= upper).tolist():
            i = wrong[0]
            low, high = f"polytope.lower={lower[i]:g}", f"polytope.upper={upper[i]:g}"
            raise ValueError(f"{low} should be below {high}")

    def minimise_rows(self, costs: np.ndarray) -> np.ndarray:
        """The upper bound if the cost is negative, else the lower one."""
        lower, upper = self._bounds()
        return np.where(costs < 0, upper, lower)

    def faces(self) -> tuple[np.ndarray, np.ndarray]:
        lower, upper = self._bounds()
        identity = np.eye(self.dimension)
        return np.vstack([-identity, identity]), np.concatenate([-lower, upper])

    def interior_point(self) -> np.ndarray:
        lower, upper = self._bounds()
        return lower + (upper - lower) / 2

    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return np.full(self.dimension, self.lower), np.full(self.dimension, self.upper)
