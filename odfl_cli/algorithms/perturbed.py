"""Online gradient descent through a perturbed optimiser.

Berthet, Blondel, Teboul, Cuturi, Vert & Bach, *Learning with Differentiable Perturbed Optimizers*,
NeurIPS 2020.
"""

from typing import Annotated

from pydantic import Field

from odfl_cli.algorithms.base import Algorithm, State
from odfl_cli.core.arrays import Array, dot
from odfl_cli.core.settings import Integer, Positive, settings
from odfl_cli.core.streams import Draw


@settings
class Perturbed(Algorithm):
    """Descends F_ε(ĉ) = E⟨c, w*(ĉ + εZ)⟩, Z ~ N(0, I): noise smooths the decision, on any polytope.

    ∇F_ε(ĉ) = E[⟨c, w*(ĉ + εZ)⟩ Z] / ε, estimated by the sample covariance of the cost and the noise
    over `samples` draws, which is unbiased and spares a baseline. (The same paper offers a
    Fenchel–Young loss for imitating w*(c); this is the cost itself, the goal of the problem.)
    """

    eta: Positive = 0.01
    epsilon: Positive = 1.0
    samples: Annotated[Integer, Field(ge=2)] = 16
    name = "perturbed"

    def draws(self) -> dict[str, Draw]:
        """Z, `samples` times."""
        return {"perturbed/noise": Draw("normal", (self.samples, self.problem.items))}

    def update(self, state: State, X: Array, costs: Array, draws: dict[str, Array]) -> State:
        """θ_{t+1} = Π_Θ(θ_t − η ∇gᵀ Σ_i (v_i − v̄) Z_i / (ε (n − 1))), v_i = ⟨c_t, w*(ĉ_t + εZ_i)⟩."""
        predictor, noise = self.problem.predictor, draws["perturbed/noise"]
        prediction = predictor.predict(state.theta, X)
        decisions = self.problem.polytope.minimise(prediction[:, None, :] + self.epsilon * noise)
        paid = dot(decisions, costs[:, None, :])
        above_mean = (paid - paid.mean(-1)[:, None])[..., None]
        gradient = (above_mean * noise).sum(-2) / (self.epsilon * (self.samples - 1))
        step = self.eta * predictor.vjp(state.theta, X, gradient)
        return State(state.t + 1, self.problem.theta_set.project(state.theta - step))
