"""Online SPO+ with the loss of Elmachtoub & Grigas, *Smart "Predict, then Optimize"* (2022)."""

from odfl_cli.algorithms.base import Algorithm, State
from odfl_cli.core.arrays import Array, dot
from odfl_cli.core.settings import Positive, settings
from odfl_cli.problem.polytopes import Polytope


@settings
class SPO(Algorithm):
    """Descends the SPO+ loss, a convex upper bound on the regret of the decision."""

    eta: Positive = 0.01
    name = "spo"

    def update(self, state: State, X: Array, costs: Array, draws: dict[str, Array]) -> State:
        """θ_{t+1} = Π_Θ(θ_t − η ∇gᵀ ∂ℓ(ĉ_t, c_t))."""
        predictor, polytope = self.problem.predictor, self.problem.polytope
        prediction = predictor.predict(state.theta, X)
        subgradient = spo_plus_subgradient(polytope, prediction, costs)
        step = self.eta * predictor.vjp(state.theta, X, subgradient)
        return State(state.t + 1, self.problem.theta_set.project(state.theta - step))


def spo_plus_loss(polytope: Polytope, prediction: Array, costs: Array) -> Array:
    """ℓ(ĉ, c) = max_w (c − 2ĉ)ᵀw + 2ĉᵀw*(c) − cᵀw*(c), over the last axis."""
    best = polytope.minimise(costs)
    worst = polytope.minimise(2.0 * prediction - costs)
    return dot(costs - 2.0 * prediction, worst) + dot(2.0 * prediction - costs, best)


def spo_plus_subgradient(polytope: Polytope, prediction: Array, costs: Array) -> Array:
    """∂ℓ/∂ĉ = 2 (w*(c) − w*(2ĉ − c))."""
    return 2.0 * (polytope.minimise(costs) - polytope.minimise(2.0 * prediction - costs))
