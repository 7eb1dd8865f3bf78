"""PF-OGD: prediction-focused online gradient descent (Algorithm 3)."""

from odfl_cli.algorithms.base import Algorithm, State
from odfl_cli.core.arrays import Array
from odfl_cli.core.settings import Positive, settings


@settings
class PFOGD(Algorithm):
    """Descends the squared error ‖c_t − g(θ, X_t)‖², blind to the decision."""

    eta: Positive = 0.001
    name = "pf_ogd"

    def update(self, state: State, X: Array, costs: Array, draws: dict[str, Array]) -> State:
        """θ_{t+1} = Π_Θ(θ_t − 2η ∇gᵀ(g(θ_t, X_t) − c_t))."""
        predictor = self.problem.predictor
        residual = predictor.predict(state.theta, X) - costs
        gradient = predictor.vjp(state.theta, X, 2.0 * residual)
        return State(state.t + 1, self.problem.theta_set.project(state.theta - self.eta * gradient))
