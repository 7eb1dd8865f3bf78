"""The smoothed losses that the decision-focused algorithms descend."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from odfl_cli.core.arrays import Array, array_namespace, dot
from odfl_cli.problem.problem import Problem
from odfl_cli.problem.regularizers.base import pull_back

ROUNDS_AT_ONCE = 64


@dataclass(frozen=True)
class SmoothedCost:
    """f̃(θ) = ⟨c, w̃_α(θ)⟩ of one round, equation (6). Leading axes broadcast."""

    problem: Problem
    X: Array  # [..., d, p]
    costs: Array  # [..., d]
    alpha: Array  # broadcasts against costs

    weight: ClassVar[int] = 1

    def value(self, theta: Array) -> Array:
        prediction = self.problem.predictor.predict(theta, self.X)
        return dot(self.costs, self.problem.regularizer.smooth(prediction, self.alpha))

    def gradient(self, theta: Array, sample: Array | None = None) -> Array:
        """∇f̃(θ) = (∇_θ g)ᵀ (∂w̃/∂g)ᵀ c, [..., m]."""
        prediction = self.problem.predictor.predict(theta, self.X)
        v = pull_back(self.problem.regularizer, prediction, self.alpha, self.costs)
        return self.problem.predictor.vjp(theta, self.X, v)

    def subsample(self, rounds: int) -> "SmoothedCost":
        """Itself: it has one round."""
        return self


@dataclass(frozen=True)
class PerturbedLeader:
    """(s/t)(Σ_{i≤t} f̃_i − ⟨σ, ·⟩): line 6 of Algorithm 1 times s/t, s the scale.

    The minimiser is the same and a step size need not shrink as the sum grows.
    """

    problem: Problem
    X: Array  # [S, ≥ held, d, p]
    costs: Array  # [S, ≥ held, d]
    held: int  # rounds in the buffer, the first ones
    t: int  # rounds that they represent
    alpha: float
    sigma: Array  # [S, m]
    scale: float = 1.0

    @property
    def weight(self) -> float:
        """The factor by which `value` is multiplied to get the sum of line 6."""
        return self.t / self.scale

    def value(self, theta: Array) -> Array:
        total = sum(self._rounds(part).value(theta[..., None, :]).sum(-1) for part in self._parts())
        return self.scale * (total / self.held - dot(self.sigma, theta) / self.t)

    def gradient(self, theta: Array, sample: Array | None) -> Array:
        """The average over the rounds chosen by `sample` [S, batch], uniform in [0, 1), or over all."""
        if sample is None or sample.shape[-1] == 0:
            total = sum(
                self._rounds(part).gradient(theta[..., None, :]).sum(-2) for part in self._parts()
            )
            return self.scale * (total / self.held - self.sigma / self.t)
        xp = array_namespace(theta)
        chosen = xp.astype(sample * self.held, xp.int64)
        seed = xp.arange(self.sigma.shape[0], device=theta.device)[:, None]
        loss = self._rounds((seed, chosen))
        return self.scale * (loss.gradient(theta[..., None, :]).mean(-2) - self.sigma / self.t)

    def subsample(self, rounds: int) -> "PerturbedLeader":
        """An estimate from at most `rounds` of the rounds held, evenly spaced."""
        if self.held <= rounds:
            return self
        kept = [i * self.held // rounds for i in range(rounds)]
        return replace(self, X=self.X[:, kept], costs=self.costs[:, kept], held=rounds)

    def _rounds(self, chosen: tuple) -> SmoothedCost:
        return SmoothedCost(self.problem, self.X[chosen], self.costs[chosen], self.alpha)

    def _parts(self) -> Iterator[tuple[slice, slice]]:
        """The rounds held, in parts of a size that does not depend on the number of seeds."""
        for first in range(0, self.held, ROUNDS_AT_ONCE):
            yield slice(None), slice(first, min(first + ROUNDS_AT_ONCE, self.held))
