"""Online gradient descent on a loss of the prediction: θ_{t+1} = Π_Θ(θ_t − η ∇gᵀ v_t).

The algorithms here differ only in v_t, a (sub)gradient of their loss in ĉ_t = g(θ_t, X_t).
"""

from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from odfl_cli.algorithms.base import drawn_problem, smoothing_draws
from odfl_cli.algorithms.units import Stepper, unit_smoothing
from odfl_cli.core.arrays import Array, dot
from odfl_cli.core.settings import Integer, Positive, settings
from odfl_cli.core.streams import Draw
from odfl_cli.problem.offers import mark_missing
from odfl_cli.problem.polytopes.linear import DecisionSet


class GradientState(NamedTuple):
    """θ_{t+1} and, if steps are adaptive, Σ ∇² by coordinate."""

    t: int
    theta: Array  # [S, m]
    squares: Array  # [S, m], else [S, 0]


@settings
class GradientLearner(Stepper):
    """Online gradient descent; a subclass defines v_t in `direction`."""

    eta: Positive = 0.01

    def init(self, seeds: int, truth: np.ndarray | None) -> GradientState:
        theta = np.zeros((seeds, self.problem.parameters))
        return GradientState(0, theta, self.no_squares(seeds))

    def direction(self, prediction: Array, costs: Array, draws: dict[str, Array]) -> Array:
        """v_t for ĉ_t and c_t, all [S, d]."""
        raise NotImplementedError

    def update(
        self, state: GradientState, X: Array, costs: Array, draws: dict[str, Array]
    ) -> GradientState:
        """θ_{t+1} = Π_Θ(θ_t − η ∇gᵀ v_t)."""
        predictor = self.problem.predictor
        v = self.direction(predictor.predict(state.theta, X), costs, draws)
        gradient = predictor.vjp(state.theta, X, v)
        moved = self.descend(state.theta, gradient, self.eta, state.squares)
        return GradientState(state.t + 1, *moved)


@settings
class PFOGD(GradientLearner):
    """PF-OGD (Algorithm 3): the squared error ‖c_t − ĉ‖², which ignores the decision."""

    eta: Positive = 0.001
    name = "pf_ogd"
    takes_offers = True

    def direction(self, prediction: Array, costs: Array, draws: dict[str, Array]) -> Array:
        """2 (ĉ_t − c_t)."""
        return 2.0 * (prediction - costs)


@settings
class SPO(GradientLearner):
    """Online SPO+: a convex upper bound on the regret of the decision.

    Elmachtoub & Grigas, *Smart "Predict, then Optimize"*, Management Science 68(1), 2022.
    """

    name = "spo"
    takes_offers = True

    def direction(self, prediction: Array, costs: Array, draws: dict[str, Array]) -> Array:
        """2 (w*(c_t) − w*(2ĉ_t − c_t))."""
        return spo_plus_subgradient(self.problem.polytope, prediction, costs)


@settings
class SPOPrinted(GradientLearner):
    """Online SPO with the loss as Algorithm 4 prints it, 2cᵀv*(ĉ) − cᵀv*(c) − ĉᵀv*(ĉ): not SPO+.

    Decisions are piecewise constant in ĉ, so its gradient is −v*(ĉ): the costs do not enter and
    nothing is learnt from them. It is here to show the difference; `spo` is SPO+.
    """

    name = "spo_printed"
    takes_offers = True

    def direction(self, prediction: Array, costs: Array, draws: dict[str, Array]) -> Array:
        """−w*(ĉ_t)."""
        return -self.problem.polytope.minimise(prediction)


@settings
class FenchelYoung(GradientLearner):
    """A Fenchel–Young loss: moves the smoothed decision towards the best decision in hindsight.

    With Ω = αR and predicted costs, which are negative scores,
    ℓ(ĉ, c) = max_{w∈W} (−⟨ĉ, w⟩ − Ω(w)) + ⟨ĉ, w*(c)⟩ + Ω(w*(c)). It is convex in ĉ; with the entropy
    it is the logistic loss of the label w*(c). With adaptive steps, α is `alpha` times 1/2n units.
    Blondel, Martins & Niculae, *Learning with Fenchel–Young Losses*, JMLR 21, 2020.
    """

    alpha: Positive = 1.0
    name = "fenchel_young"
    takes_offers = True

    def draws(self) -> dict[str, Draw]:
        return smoothing_draws("fenchel_young", self.problem)

    def direction(self, prediction: Array, costs: Array, draws: dict[str, Array]) -> Array:
        """w*(c_t) − w̃_α(ĉ_t)."""
        problem = drawn_problem("fenchel_young", self.problem, draws)
        alpha = self.alpha * (unit_smoothing(problem) if self.adaptive else 1.0)
        smoothed = problem.regularizer.smooth(prediction, alpha)
        return problem.polytope.minimise(mark_missing(costs, prediction)) - smoothed


@settings
class Perturbed(GradientLearner):
    """F_ε(ĉ) = E⟨c, w*(ĉ + εZ)⟩, Z ~ N(0, I): noise smooths the decision, on any polytope.

    ∇F_ε(ĉ) = E[⟨c, w*(ĉ + εZ)⟩ Z] / ε, estimated by the sample covariance of the cost and the noise
    over `samples` draws, which is unbiased and needs no baseline. (The paper also has a
    Fenchel–Young loss that imitates w*(c); this one is the cost itself.)
    Berthet, Blondel, Teboul, Cuturi, Vert & Bach, *Learning with Differentiable Perturbed
    Optimizers*, NeurIPS 2020.
    """

    epsilon: Positive = 1.0
    samples: Annotated[Integer, Field(ge=2)] = 16
    name = "perturbed"
    takes_offers = True

    def draws(self) -> dict[str, Draw]:
        """Z, `samples` times."""
        return {"perturbed/noise": Draw("normal", (self.samples, self.problem.items))}

    def direction(self, prediction: Array, costs: Array, draws: dict[str, Array]) -> Array:
        """Σ_i (p_i − p̄) Z_i / (ε (n − 1)) with p_i = ⟨c_t, w*(ĉ_t + εZ_i)⟩."""
        noise = draws["perturbed/noise"]
        decisions = self.problem.polytope.minimise(prediction[:, None, :] + self.epsilon * noise)
        paid = dot(decisions, costs[:, None, :])
        paid = paid - paid[:, :1]  # equal costs then give exactly zero
        above_mean = (paid - paid.mean(-1)[:, None])[..., None]
        return (above_mean * noise).sum(-2) / (self.epsilon * (self.samples - 1))


def spo_plus_subgradient(polytope: DecisionSet, prediction: Array, costs: Array) -> Array:
    """∂ℓ/∂ĉ = 2 (w*(c) − w*(2ĉ − c))."""
    best = polytope.minimise(mark_missing(costs, prediction))
    return 2.0 * (best - polytope.minimise(2.0 * prediction - costs))
