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
        """d = size²."""
        return self.size**2

    def minimise_rows(self, costs: np.ndarray) -> np.ndarray:
        """A permutation matrix by scipy's linear_sum_assignment; ties as that breaks them."""
        from scipy.optimize import linear_sum_assignment

        w = np.zeros((len(costs), self.size, self.size))
        for matrix, cost in zip(w, costs.reshape(w.shape), strict=True):
            matrix[linear_sum_assignment(cost)] = 1.0
        return w.reshape(costs.shape)

    def faces(self) -> tuple[np.ndarray, np.ndarray]:
        """−w ≤ 0."""
        return -np.eye(self.dimension), np.zeros(self.dimension)

    def equalities(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows sum to 1 and columns sum to 1; the last column's follows from the others."""
        identity, ones = np.eye(self.size), np.ones((1, self.size))
        C = np.vstack([np.kron(identity, ones), np.kron(ones, identity)])[:-1]
        return C, np.ones(len(C))

    def interior_point(self) -> np.ndarray:
        """Equal shares."""
        return np.full(self.dimension, 1.0 / self.size)
