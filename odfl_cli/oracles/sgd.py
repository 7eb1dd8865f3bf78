"""Projected stochastic gradient descent, the oracle of the paper's experiments."""

from odfl_cli.arrays import Array
from odfl_cli.ball import Ball
from odfl_cli.oracles.base import Objective
from odfl_cli.oracles.descent import Descent, sample_of
from odfl_cli.settings import settings


@settings
class SGD(Descent):
    """θ ← Π_Θ(θ − lr ∇f(θ)), `steps` times."""

    def minimise(
        self,
        objective: Objective,
        theta_set: Ball,
        start: Array,
        samples: Array | None,
        points: Array | None = None,
    ) -> Array:
        """`steps` projected gradient steps from `start`; samples is [S, steps, batch] or None."""
        theta = start
        for step in range(self.steps):
            gradient = objective.gradient(theta, sample_of(samples, step))
            theta = theta_set.project(theta - self.lr * gradient)
        return theta
