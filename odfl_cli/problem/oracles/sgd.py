"""Projected stochastic gradient descent, the oracle of the paper's experiments."""

from odfl_cli.core.arrays import Array
from odfl_cli.core.settings import settings
from odfl_cli.problem.ball import Ball
from odfl_cli.problem.oracles.base import Objective
from odfl_cli.problem.oracles.descent import Descent, sample_of


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
