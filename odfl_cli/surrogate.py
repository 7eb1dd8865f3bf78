"""The smoothed losses that the decision-focused algorithms descend."""

from dataclasses import dataclass

from odfl_cli.arrays import Array, array_namespace, dot
from odfl_cli.problem import Problem


@dataclass(frozen=True)
class SmoothedCost:
    """f̃(θ) = ⟨c, w̃_α(θ)⟩ of one round, equation (6). Leading axes broadcast."""

    problem: Problem
    X: Array  # [..., d, p]
    costs: Array  # [..., d]
    alpha: Array  # broadcasts against costs

    def value(self, theta: Array) -> Array:
        """f̃(θ), [...]."""
        return dot(self.costs, self._decision(theta))

    def gradient(self, theta: Array, sample: Array | None = None) -> Array:
        """∇f̃(θ) = (∇_θ g)ᵀ (∂w̃/∂g)ᵀ c, [..., m]."""
        v = self.problem.regularizer.vjp(self._decision(theta), self.alpha, self.costs)
        return self.problem.predictor.vjp(theta, self.X, v)

    def _decision(self, theta: Array) -> Array:
        prediction = self.problem.predictor.predict(theta, self.X)
        return self.problem.regularizer.smooth(prediction, self.alpha)


@dataclass(frozen=True)
class PerturbedLeader:
    """(1/t)(Σ_{i≤t} f̃_i − ⟨σ, ·⟩): line 6 of Algorithm 1, divided by t.

    The minimiser is the same and a step size need not shrink as the sum grows.
    """

    problem: Problem
    X: Array  # [S, ≥ held, d, p]
    costs: Array  # [S, ≥ held, d]
    held: int  # the first `held` rounds of the buffer count
    t: int  # and stand for so many
    alpha: float
    sigma: Array  # [S, m]

    def gradient(self, theta: Array, sample: Array | None) -> Array:
        """The average over the rounds that `sample` [S, batch] (uniform in [0, 1)) points at."""
        assert sample is not None, "the history is sampled"
        xp = array_namespace(theta)
        chosen = xp.astype(sample * self.held, xp.int64)
        seed = xp.arange(theta.shape[0], device=theta.device)[:, None]
        loss = SmoothedCost(
            self.problem, self.X[seed, chosen], self.costs[seed, chosen], self.alpha
        )
        return loss.gradient(theta[:, None, :]).mean(-2) - self.sigma / self.t
