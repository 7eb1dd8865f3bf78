"""Adam (Kingma & Ba, ICLR 2015) with a projection after every step."""

from typing import Annotated

from pydantic import Field

from odfl_cli.core.arrays import Array, array_namespace
from odfl_cli.core.settings import Positive, Real, settings
from odfl_cli.problem.ball import Ball
from odfl_cli.problem.oracles.base import Objective
from odfl_cli.problem.oracles.descent import Descent, sample_of

Decay = Annotated[Real, Field(ge=0, lt=1)]


@settings
class Adam(Descent):
    """θ ← Π_Θ(θ − lr m̂ / (√v̂ + ε)): steps of about `lr` per coordinate, whatever the slope.

    m̂ and v̂ are the bias-corrected means of the gradient and of its mean square over the
    coordinates, fresh in every call. One v̂ serves all coordinates: with one for each, steps that
    are projected in the Euclidean norm come to rest away from the minimiser over Θ.
    """

    beta1: Decay = 0.9
    beta2: Decay = 0.999
    epsilon: Positive = 1e-8

    def minimise(
        self,
        objective: Objective,
        theta_set: Ball,
        start: Array,
        samples: Array | None,
        points: Array | None = None,
    ) -> Array:
        """`steps` projected steps from `start`; samples is [S, steps, batch] or None."""
        xp = array_namespace(start)
        theta, first, second = start, xp.zeros_like(start), xp.zeros_like(start[..., :1])
        for step in range(self.steps):
            gradient = objective.gradient(theta, sample_of(samples, step))
            first = self.beta1 * first + (1.0 - self.beta1) * gradient
            second = self.beta2 * second + (1.0 - self.beta2) * (gradient**2).mean(-1)[..., None]
            mean = first / (1.0 - self.beta1 ** (step + 1))
            square = second / (1.0 - self.beta2 ** (step + 1))
            theta = theta_set.project(theta - self.lr * mean / (xp.sqrt(square) + self.epsilon))
        return theta
