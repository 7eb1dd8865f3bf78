"""References that do not learn: without features, with a random θ, and with the true θ*."""

from functools import cached_property
from typing import Any, cast

import numpy as np

from odfl_cli.algorithms.base import Algorithm, State
from odfl_cli.core.arrays import Array, array_namespace, like
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import settings
from odfl_cli.core.streams import Draw, draw
from odfl_cli.problem.offers import centre


@settings
class Uniform(Algorithm):
    """Plays the centre of W every round and predicts zero.

    On the simplex its cost is that of a uniformly random item on average.
    """

    name = "uniform"
    takes_offers = True

    def __post_init__(self) -> None:
        if not hasattr(self.problem.polytope, "interior_point"):
            name = type(self.problem.polytope).__name__
            raise UserError(
                f"algo=uniform plays the centre of the set, which {name} does not state; choose algo=frozen"
            )

    @cached_property
    def centre(self) -> np.ndarray:
        """The interior point of W, [d]."""
        return cast(Any, self.problem.polytope).interior_point()

    def decide(self, state: State, X: Array) -> tuple[Array, Array]:
        """ĉ = 0 and the interior point, without the items that are not offered."""
        xp = array_namespace(X)
        lead = X.shape[: X.ndim - len(self.problem.shape)]
        prediction = xp.zeros((*lead, self.problem.items), dtype=X.dtype, device=X.device)
        point = like(X, self.centre)
        if self.problem.offers_all:
            return prediction, prediction + point
        return self.problem.mark_missing(prediction, X), centre(point, X[..., 0])


@settings
class Frozen(Algorithm):
    """A learner frozen at a random start: after round 1, θ_t has length R and a fixed direction.

    It decides by the features as a learner does but does not learn. (θ_1 = 0 would predict equal costs
    and always play the first decision.)
    """

    name = "frozen"
    needs_units = True

    def draws(self) -> dict[str, Draw]:
        """The direction; the draws of later rounds are not used."""
        return {"frozen/start": Draw("normal", (self.problem.parameters,))}

    def update(self, state: State, X: Array, costs: Array, draws: dict[str, Array]) -> State:
        if state.t > 0:
            return state._replace(t=state.t + 1)
        far = 1e9 * draws["frozen/start"]
        return State(state.t + 1, self.problem.theta_set.project(far))


@settings
class Clairvoyant(Algorithm):
    """Plays Π_Θ(θ*), the environment's own mean parameter, every round."""

    name = "clairvoyant"

    def init(self, seeds: int, truth: np.ndarray | None) -> State:
        """θ_t = Π_Θ(θ*) for all t."""
        if truth is None or not self._takes(truth):
            raise UserError(
                "algo=clairvoyant needs data with a known parameter of the predictor's size; "
                "choose data=sin4 with predictor=linear"
            )
        return State(t=0, theta=self.problem.theta_set.project(truth))

    def _takes(self, truth: np.ndarray) -> bool:
        """True if `truth` is as long as θ and θ = 0 predicts zero costs."""
        problem = self.problem
        X = draw((0,), "clairvoyant/probe", Draw("normal", problem.shape))[0]
        zero = np.zeros((1, problem.parameters))
        return truth.shape[-1] == zero.shape[-1] and not problem.predictor.predict(zero, X).any()
