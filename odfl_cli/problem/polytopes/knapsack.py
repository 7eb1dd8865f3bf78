"""The fractional knapsack: costs are negative values, items have weights."""

from functools import cached_property
from typing import Annotated

import numpy as np
from pydantic import Field

from odfl_cli.core.settings import Integer, Positive, PositiveInt, settings
from odfl_cli.core.streams import Draw, draw
from odfl_cli.problem.polytopes.linear import LinearSet


@settings
class Knapsack(LinearSet):
    """{0 ≤ w ≤ 1, weightsᵀw ≤ capacity} in R^d; the unit box if everything fits.

    Items weigh `weights`, or uniform draws from [1, 2] with `weights_seed`, or else 1 each.
    """

    dimension: PositiveInt
    capacity: Positive
    weights: tuple[Positive, ...] | None = None
    weights_seed: Annotated[Integer, Field(ge=0, lt=2**32)] | None = None

    def __post_init__(self) -> None:
        if self.weights is None:
            return
        if self.weights_seed is not None:
            raise ValueError("polytope.weights and polytope.weights_seed: give one of the two")
        if len(self.weights) != self.dimension:
            raise ValueError(
                f"polytope.weights has {len(self.weights)} numbers; give {self.dimension}"
            )

    @cached_property
    def item_weights(self) -> np.ndarray:
        """The weights in use, [d]."""
        if self.weights is not None:
            return np.array(self.weights)
        if self.weights_seed is None:
            return np.ones(self.dimension)
        spec = Draw("uniform", (self.dimension,))
        return 1.0 + draw((self.weights_seed,), "polytope/weights", spec)[0, 0]

    def minimise_rows(self, costs: np.ndarray) -> np.ndarray:
        """Items of negative cost in the order of cost per weight, the last one in part."""
        order = np.argsort(costs / self.item_weights, axis=1, kind="stable")
        weights = self.item_weights[order]
        packed_before = np.zeros_like(costs)
        np.cumsum(weights[:, :-1], axis=1, out=packed_before[:, 1:])
        share = np.clip((self.capacity - packed_before) / weights, 0.0, 1.0)
        w = np.empty_like(costs)
        np.put_along_axis(w, order, share, axis=1)
        return np.where(costs < 0, w, 0.0)

    def faces(self) -> tuple[np.ndarray, np.ndarray]:
        identity = np.eye(self.dimension)
        bounds = np.append(np.repeat([0.0, 1.0], self.dimension), self.capacity)
        return np.vstack([-identity, identity, self.item_weights]), bounds

    def interior_point(self) -> np.ndarray:
        """The same share of every item, which fills half of the knapsack or of the box."""
        share = min(1.0, self.capacity / self.item_weights.sum()) / 2
        return np.full(self.dimension, share)
