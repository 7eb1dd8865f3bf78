"""A budget: choose k of d items."""

import numpy as np

from odfl_cli.core.settings import PositiveInt, settings
from odfl_cli.problem.polytopes.linear import LinearSet


@settings
class Budget(LinearSet):
    """{0 ≤ w ≤ 1, Σ w_i = k} in R^d; k = d would leave nothing to choose."""

    dimension: PositiveInt
    k: PositiveInt

    def __post_init__(self) -> None:
        if self.k >= self.dimension:
            raise ValueError(
                f"polytope.k={self.k}: should be less than polytope.dimension={self.dimension}"
            )

    def minimise_rows(self, costs: np.ndarray) -> np.ndarray:
        """1 for the k smallest costs, the first among equals; else 0."""
        chosen = np.argsort(costs, axis=1, kind="stable")[:, : self.k]
        w = np.zeros_like(costs)
        np.put_along_axis(w, chosen, 1.0, axis=1)
        return w

    def faces(self) -> tuple[np.ndarray, np.ndarray]:
        identity = np.eye(self.dimension)
        bounds = np.repeat([0.0, 1.0], self.dimension)
        return np.vstack([-identity, identity]), bounds

    def equalities(self) -> tuple[np.ndarray, np.ndarray]:
        return np.ones((1, self.dimension)), np.array([float(self.k)])

    @property
    def least_offered(self) -> int:
        return self.k

    def interior_point(self) -> np.ndarray:
        return np.full(self.dimension, self.k / self.dimension)
