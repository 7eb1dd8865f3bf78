"""Online gradient descent on a Fenchel–Young loss.

Blondel, Martins & Niculae, *Learning with Fenchel–Young Losses*, JMLR 21, 2020.
"""

from odfl_cli.algorithms.base import Algorithm, State
from odfl_cli.core.arrays import Array
from odfl_cli.core.settings import Positive, settings


@settings
class FenchelYoung(Algorithm):
    """Pulls the smoothed decision towards the decision that would have been best.

    With Ω = αR and predicted costs, which are scores with the sign turned,
    ℓ(ĉ, c) = max_{w∈W} (−⟨ĉ, w⟩ − Ω(w)) + ⟨ĉ, w*(c)⟩ + Ω(w*(c)). It is convex in ĉ; with the entropy
    it is the logistic loss of the label w*(c).
    """

    eta: Positive = 0.01
    alpha: Positive = 1.0
    name = "fenchel_young"

    def update(self, state: State, X: Array, costs: Array, draws: dict[str, Array]) -> State:
        """θ_{t+1} = Π_Θ(θ_t − η ∇gᵀ (w*(c_t) − w̃_α(ĉ_t)))."""
        problem = self.problem
        smoothed = problem.regularizer.smooth(problem.predictor.predict(state.theta, X), self.alpha)
        residual = problem.polytope.minimise(costs) - smoothed
        step = self.eta * problem.predictor.vjp(state.theta, X, residual)
        return State(state.t + 1, problem.theta_set.project(state.theta - step))
