"""Losses of decision-focused learning in batches, descended online: one formula each.

v_t, a (sub)gradient in ĉ_t of the loss; w* minimises a linear cost over W, h is `width`, ε is `epsilon`:

    pg_forward   (w*(ĉ) − w*(ĉ − hc)) / h          Huang & Gupta, NeurIPS 2024, arXiv 2402.03256
    pg_central   (w*(ĉ + hc) − w*(ĉ − hc)) / 2h    the same
    pfyl         w*(c) − mean w*(ĉ + εZ)            perturbed Fenchel–Young: Berthet et al., NeurIPS 2020
    dbb          (w*(ĉ + hc) − w*(ĉ)) / h          Vlastelica et al., ICLR 2020
    nid          −c                                Sahoo et al., ICLR 2023
    imle         mean (w*(ĉ + εG + hc) − w*(ĉ + εG)) / h, G sums of gammas: Niepert et al., NeurIPS 2021
    ltr          Σ_w (w*(c) − w) [⟨ĉ, w*(c) − w⟩ ≥ 0] / (N − 1) over the N vertices: Mandi et al., ICML 2022
    lava         Σ_w (w*(c) − w) [⟨ĉ, w*(c) − w⟩ > −h] over the neighbours of w*(c): arXiv 2505.22224

Z is normal. Those of dbb, nid and imle are of the cost ⟨c, w⟩ itself, whose gradient in w is c. pg_forward is the
one-sided loss of the paper and of PyEPO, a backward difference of V(c) = min ⟨c, w⟩ in spite of its name; dbb is the
forward one. For any h, pg_forward learns nothing where w*(ĉ) is a worst decision for c, such as a wrong item where
all others but one cost the same. Where predictions tie, as at θ_1 = 0, w*(ĉ) is the first item's; with adaptive steps
it is the best for c of those that tie in pg_forward, the worst in dbb, a subgradient as well: then the order of items
has no effect. ltr counts ties as wrong, since it would never leave θ_1 = 0 otherwise.
"""

from functools import cached_property
from typing import Annotated, Literal, cast

import numpy as np
from pydantic import Field

from odfl_cli.algorithms.gradient import GradientLearner
from odfl_cli.core.arrays import Array, array_namespace, dot, like
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import Integer, Positive, settings
from odfl_cli.core.streams import Draw
from odfl_cli.problem.polytopes.linear import Polytope, check_faces
from odfl_cli.problem.polytopes.vertices import vertices_of

Loss = Literal["pg_forward", "pg_central", "pfyl", "dbb", "nid", "imle", "ltr", "lava"]
TIE = 1e-6  # a width in units that decides ties alone
GAMMAS = 10
"""Terms of a sum of gammas, the first ones of a series whose limit is Gumbel's distribution."""


@settings
class Rival(GradientLearner):
    """Online gradient descent on one of the losses above."""

    loss: Loss = "pg_central"
    width: Positive = 1.0
    epsilon: Positive = 1.0
    samples: Annotated[Integer, Field(ge=1)] = 16
    name = "rival"

    def __post_init__(self) -> None:
        if self.loss in ("ltr", "lava"):
            _ = self.vertices

    def draws(self) -> dict[str, Draw]:
        """Z, or the exponential terms of G."""
        shape = (self.samples, self.problem.items)
        if self.loss == "imle":
            return {"rival/noise": Draw("exponential", (*shape, GAMMAS))}
        return {"rival/noise": Draw("normal", shape)} if self.loss == "pfyl" else {}

    def direction(self, prediction: Array, costs: Array, draws: dict[str, Array]) -> Array:
        best, h = self.problem.polytope.minimise, self.width
        match self.loss:
            case "pg_forward" | "pg_central" | "dbb":
                tie = TIE if self.adaptive else 0.0
                back, ahead = {"pg_forward": (h, tie), "dbb": (tie, h)}.get(self.loss, (h, h))
                moved = best(prediction + ahead * costs) - best(prediction - back * costs)
                return moved / (back + ahead)
            case "pfyl":
                noisy = prediction[:, None, :] + self.epsilon * draws["rival/noise"]
                return best(costs) - best(noisy).mean(-2)
            case "nid":
                return -costs
            case "imle":
                noisy = prediction[:, None, :] + self.epsilon * sum_gammas(draws["rival/noise"])
                return (best(noisy + h * costs[:, None, :]) - best(noisy)).mean(-2) / h
        return self._rank(prediction, costs)

    def _rank(self, prediction: Array, costs: Array) -> Array:
        """v_t of ltr and lava: the best vertex should be predicted cheaper than others."""
        xp, (vertices, neighbours) = array_namespace(prediction), self.vertices
        points = like(prediction, vertices)
        first = xp.argmin(dot(points, costs[:, None, :]), axis=-1)
        predicted = dot(points, prediction[:, None, :])
        gaps = xp.take_along_axis(predicted, first[:, None], axis=-1) - predicted
        if self.loss == "ltr":
            wrong = xp.astype(gaps >= 0.0, points.dtype) / max(len(vertices) - 1, 1)
        else:
            wrong = xp.astype(gaps > -self.width, points.dtype) * like(points, neighbours)[first]
        return wrong.sum(-1)[:, None] * points[first] - (wrong[..., None] * points).sum(-2)

    @cached_property
    def vertices(self) -> tuple[np.ndarray, np.ndarray]:
        """The vertices of W, [N, d], and which of them an edge joins, [N, N]."""
        check_faces(self.problem.polytope, f"algo.loss={self.loss}", "algo.loss=pg_central")
        polytope = cast(Polytope, self.problem.polytope)
        (A, b), (C, e) = polytope.faces(), polytope.equalities()
        points = vertices_of(A, b, C, e)
        if points is None:
            raise UserError(f"algo.loss={self.loss}: the vertices of W are too many to be listed")
        return points, find_edges(points, A, b, C)


def sum_gammas(exponential: Array) -> Array:
    """Σ_{i≤s} E_i / i − ln s over the last axis, for κ = 1, where gamma variables are exponential."""
    s = exponential.shape[-1]
    return dot(exponential, like(exponential, 1.0 / np.arange(1, s + 1))) - float(np.log(s))


def find_edges(points: np.ndarray, A: np.ndarray, b: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Two vertices are neighbours if what holds with equality at both leaves one dimension, [N, N]."""
    tight, d = np.abs(points @ A.T - b) < 1e-9, points.shape[1]
    edges = np.zeros((len(points), len(points)))
    for i, j in zip(*np.triu_indices(len(points), 1), strict=True):
        rows = np.vstack([A[tight[i] & tight[j]], C])
        if len(rows) >= d - 1 and np.linalg.matrix_rank(rows) == d - 1:
            edges[i, j] = edges[j, i] = 1.0
    return edges
