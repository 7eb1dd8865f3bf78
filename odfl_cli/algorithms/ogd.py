"""DF-OGD without its oracle: plain online gradient descent on the smoothed cost.

Zinkevich, *Online Convex Programming and Generalized Infinitesimal Gradient Ascent*, ICML 2003,
applied to the losses f̃_t of Algorithm 2, which are not convex.
"""

from odfl_cli.algorithms.base import Algorithm, State
from odfl_cli.core.arrays import Array
from odfl_cli.core.settings import Positive, settings
from odfl_cli.problem.surrogate import SmoothedCost


@settings
class OGD(Algorithm):
    """Descends f̃_t at θ_t itself, with DF-OGD's rates for a path of length 0.

    α_t = c_α n^{−1/2} t^{−1/4}  and  η_t = c_η n^{−1/2} t^{−3/4}.
    """

    c_alpha: Positive = 1.0
    c_eta: Positive = 1.0
    name = "ogd"

    def update(self, state: State, X: Array, costs: Array, draws: dict[str, Array]) -> State:
        """θ_{t+1} = Π_Θ(θ_t − η_t ∇f̃_t(θ_t))."""
        t, n = state.t + 1, self.problem.regularizer.suboptimality
        alpha = self.c_alpha * n**-0.5 * t**-0.25
        eta = self.c_eta * n**-0.5 * t**-0.75
        gradient = SmoothedCost(self.problem, X, costs, alpha).gradient(state.theta)
        return State(t, self.problem.theta_set.project(state.theta - eta * gradient))
