"""Online SPO with the surrogate as Algorithm 4 prints it, which is not SPO+."""

from odfl_cli.algorithms.base import Algorithm, State
from odfl_cli.core.arrays import Array
from odfl_cli.core.settings import Positive, settings


@settings
class SPOPrinted(Algorithm):
    """Descends 2cᵀv*(ĉ) − cᵀv*(c) − ĉᵀv*(ĉ).

    Decisions are piecewise constant in ĉ, so its gradient is −v*(ĉ): the costs do not enter and
    nothing is learnt from them. Kept to show the difference; `spo` is the real one.
    """

    eta: Positive = 0.01
    name = "spo_printed"

    def update(self, state: State, X: Array, costs: Array, draws: dict[str, Array]) -> State:
        """θ_{t+1} = Π_Θ(θ_t + η ∇gᵀ v*(ĉ_t))."""
        predictor = self.problem.predictor
        decision = self.problem.polytope.minimise(predictor.predict(state.theta, X))
        step = self.eta * predictor.vjp(state.theta, X, -decision)
        return State(state.t + 1, self.problem.theta_set.project(state.theta - step))
