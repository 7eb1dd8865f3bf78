"""Assignments of n workers to n tasks."""

from typing import Annotated

import numpy as np
from pydantic import Field

from odfl_cli.core.settings import Integer, settings
from odfl_cli.problem.polytopes.linear import LinearSet


@settings
class Assignment(LinearSet):
    """Doubly stochastic size × size matrices, row after row in one vector."""

    size: Annotated[Integer, Field(ge=2)]

    @property
    def dimension(self) -> int:
        return self.size**2

    def minimise_rows(self, costs: np.ndarray) -> np.ndarray:
        """A permutation matrix of least cost; NaN if a cost is not finite."""
        from scipy.optimize import linear_sum_assignment

        w = np.zeros(costs.shape)
        for row, matrix in zip(w, costs.reshape(-1, self.size, self.size), strict=True):
            if np.isfinite(matrix).all():
                workers, tasks = linear_sum_assignment(matrix)
                row[workers * self.size + tasks] = 1.0
            else:
                row[:] = np.nan
        return w

    def faces(self) -> tuple[np.ndarray, np.ndarray]:
        return -np.eye(self.dimension), np.zeros(self.dimension)

    def equalities(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns sum to 1; the equality of the last column follows from the others."""
        identity, ones = np.eye(self.size), np.ones((1, self.size))
        C = np.vstack([np.kron(identity, ones), np.kron(ones, identity)])[:-1]
        return C, np.ones(len(C))

    def interior_point(self) -> np.ndarray:
        return np.full(self.dimension, 1.0 / self.size)
