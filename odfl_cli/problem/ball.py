"""Θ: the Euclidean ball of parameters."""

from odfl_cli.core.arrays import Array, array_namespace, dot
from odfl_cli.core.settings import Positive, settings


@settings
class Ball:
    """{θ : ‖θ‖ ≤ radius}."""

    radius: Positive

    def project(self, theta: Array) -> Array:
        """Π_Θ(θ), row by row over the last axis."""
        xp = array_namespace(theta)
        norm = xp.sqrt(dot(theta, theta))[..., None]
        # An overflowing norm must not silently shrink θ to 0: ∞ − ∞ makes it NaN.
        return theta * (self.radius / xp.maximum(norm, self.radius) + (norm - norm))
