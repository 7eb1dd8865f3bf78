"""The probability simplex: choose one item, or a mixture of items."""

from typing import Annotated

import numpy as np
from pydantic import Field

from odfl_cli.core.arrays import Array, array_namespace, to_type
from odfl_cli.core.settings import Integer, settings
from odfl_cli.problem.polytopes.linear import LinearSet


@settings
class Simplex(LinearSet):
    """{w ≥ 0, Σ w_i = 1} in R^d."""

    dimension: Annotated[Integer, Field(ge=2)]
    kernel = "simplex"
    least_offered = 1

    def minimise(self, costs: Array) -> Array:
        """The vertex of the smallest cost, the first among equals."""
        xp = array_namespace(costs)
        best = costs.argmin(-1)[..., None]
        chosen = xp.arange(self.dimension, device=costs.device) == best
        return to_type(chosen, costs.dtype)

    def faces(self) -> tuple[np.ndarray, np.ndarray]:
        return -np.eye(self.dimension), np.zeros(self.dimension)

    def equalities(self) -> tuple[np.ndarray, np.ndarray]:
        return np.ones((1, self.dimension)), np.ones(1)

    def interior_point(self) -> np.ndarray:
        return np.full(self.dimension, 1.0 / self.dimension)
