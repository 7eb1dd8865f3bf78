"""Half the squared distance: the smoothed decision is a Euclidean projection (Moreau–Yosida)."""

from functools import cached_property

import numpy as np
from pydantic import SkipValidation

from odfl_cli.core.arrays import Array, like, on_rows
from odfl_cli.core.settings import settings
from odfl_cli.problem.polytopes.linear import Polytope, check_faces
from odfl_cli.problem.regularizers.base import alpha_column
from odfl_cli.problem.regularizers.projection import Faces, WeightedSum, weighted_sum


@settings
class Quadratic:
    """R(w) = ½‖w − w₀‖² on any polytope or ball, w₀ inside; closed forms on simplex, box, budget, knapsack, ball.

    At a prediction of 0, where learning starts, the smoothed decision is w₀, and it moves with the
    prediction. A projection of −g/α itself would start on a corner of a box or knapsack that holds 0
    in its border, and not move. On simplex and budget the two are the same projection.
    """

    polytope: SkipValidation[Polytope]
    in_paper = False
    steepness = 1.0  # a projection is non-expansive

    def __post_init__(self) -> None:
        if not hasattr(self.polytope, "project"):
            check_faces(self.polytope, "regularizer=quadratic", "choose regularizer=perturbed")

    @cached_property
    def suboptimality(self) -> float:
        """n = ½ max ‖w − w₀‖², or slightly more: ⟨g, w̃⟩ ≤ min ⟨g, w⟩ + n·α.

        With l ≤ w ≤ u on W, w_i² lies below its chord (l_i + u_i) w_i − l_i u_i, and the sum of
        the chords less 2⟨w₀, w⟩ is largest at a vertex that `minimise` finds. Exact where every
        vertex has its coordinates in {l_i, u_i}: ½(1 − 1/d) on the simplex, ½k(1 − k/d) on the
        budget, Σ(u_i − l_i)²/8 on a box. For the entropy n is ln d and for the log
        barrier the number of faces: an α of the same size smooths differently.
        """
        if reach := getattr(self.polytope, "reach", None):  # max ‖w − w₀‖, where it is known
            return reach * reach / 2
        lower, upper = self.extent
        centre = self.polytope.interior_point()
        chord = lower + upper - 2 * centre
        return float(chord @ self.polytope.minimise(-chord) - lower @ upper + centre @ centre) / 2

    @cached_property
    def extent(self) -> tuple[np.ndarray, np.ndarray]:
        """The smallest and the largest value of every coordinate on W, each [d]."""
        identity = np.eye(self.polytope.dimension)
        ends = [self.polytope.minimise(costs) for costs in (identity, -identity)]
        return np.diagonal(ends[0]).copy(), np.diagonal(ends[1]).copy()

    @cached_property
    def projection(self) -> WeightedSum | Faces:
        """The projection onto W."""
        return weighted_sum(self.polytope, self.extent) or Faces(self.polytope)

    def smooth(self, g: Array, alpha: Array) -> Array:
        """Π_W(w₀ − g/α)."""
        if hasattr(self.polytope, "project"):
            return self.polytope.project(self._target(g, alpha))
        return on_rows(self.projection.project, g, alpha_column(alpha))

    def vjp(self, w: Array, alpha: Array, v: Array) -> Array:
        """−(1/α) P v, P the orthogonal projector onto the directions in which w̃ is free to move.

        P is the Jacobian of Π_W where that is differentiable, elsewhere one of its limits.
        """
        return -on_rows(self.projection.tangent, w, v) / alpha

    def pull_back(self, g: Array, alpha: Array, v: Array) -> Array:
        """The same at g: on a curved border the Jacobian depends on how far away w₀ − g/α is."""
        if hasattr(self.polytope, "project_vjp"):
            return -self.polytope.project_vjp(self._target(g, alpha), v) / alpha
        return self.vjp(self.smooth(g, alpha), alpha, v)

    def _target(self, g: Array, alpha: Array) -> Array:
        """w₀ − g/α."""
        return like(g, self.polytope.interior_point()) - g / alpha
