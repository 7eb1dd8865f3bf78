"""The upper floor: no learning at all."""

from odfl_cli.algorithms.base import Algorithm, State
from odfl_cli.core.arrays import Array, array_namespace
from odfl_cli.core.settings import settings


@settings
class Uniform(Algorithm):
    """Plays the centre of W every round and predicts zero.

    On the simplex this costs what a uniformly random item costs on average.
    """

    name = "uniform"

    def decide(self, state: State, X: Array) -> tuple[Array, Array]:
        """ĉ = 0 and the polytope's interior point."""
        xp = array_namespace(X)
        prediction = xp.zeros(X.shape[:-1], dtype=X.dtype, device=X.device)
        centre = self.problem.polytope.interior_point()
        return prediction, prediction + xp.asarray(centre, dtype=X.dtype, device=X.device)
