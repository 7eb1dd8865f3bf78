"""A search over all of Θ for at most three parameters, as a reference for the other oracles."""

import math
from functools import cache

import numpy as np

from odfl_cli.core.arrays import Array, array_namespace, like
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import PositiveInt, settings
from odfl_cli.problem.oracles.base import Oracle, OracleCall, best_of
from odfl_cli.problem.oracles.lbfgs import LBFGS

MOST_PARAMETERS = 3
AT_ONCE = 256  # points evaluated together


@settings
class Exact(Oracle):
    """The lowest point of a grid of `directions` × `radii`, polished from the best `finalists`.

    It also minimises unsmoothed losses: with a linear predictor they depend only on the direction of
    θ, so that only cells narrower than the grid are missed.
    """

    directions: PositiveInt = 1000
    radii: PositiveInt = 8
    finalists: PositiveInt = 4
    polish: PositiveInt = 60

    def check(self, parameters: int) -> None:
        if parameters > MOST_PARAMETERS:
            raise UserError(
                f"oracle=exact: it searches all of Θ, for {MOST_PARAMETERS} parameters at most, and "
                f"θ has {parameters} here; choose oracle=multistart or fewer data.features"
            )

    def minimise(self, call: OracleCall) -> Array:
        """The best of the grid and the warm start after polishing."""
        xp, start, value = array_namespace(call.start), call.start, call.objective.value
        grid = call.theta_set.radius * ball_grid(start.shape[-1], self.directions, self.radii)
        parts = [like(start, grid[i : i + AT_ONCE]) for i in range(0, len(grid), AT_ONCE)]
        same = [xp.broadcast_to(part[:, None], (len(part), *start.shape)) for part in parts]
        values = xp.concat([value(points) for points in same])
        ranks = xp.argsort(values, axis=0, stable=True)[: self.finalists]
        leading = like(start, grid)[ranks]
        starts = xp.concat([start[None], leading])
        ends = LBFGS(steps=self.polish).minimise(call._replace(start=starts))
        return best_of(ends, value(ends))


@cache
def ball_grid(parameters: int, directions: int, radii: int) -> np.ndarray:
    """Points of the unit ball in R^1, R^2 or R^3: 0 and `directions` on each of `radii` spheres."""
    spheres = np.arange(1, radii + 1)[:, None, None] / radii
    points = (spheres * unit_directions(parameters, directions)).reshape(-1, parameters)
    return np.concatenate([np.zeros((1, parameters)), points])


def unit_directions(parameters: int, count: int) -> np.ndarray:
    """Evenly spread unit vectors: ±1, a circle, or a Fibonacci sphere, [≤ count, parameters]."""
    if parameters == 1:
        return np.array([[1.0], [-1.0]])
    k = np.arange(count) + 0.5
    if parameters == 2:
        around = k * (2 * math.pi / count)
        return np.stack([np.cos(around), np.sin(around)], axis=-1)
    height = 1 - 2 * k / count
    ring, golden = np.sqrt(1 - height**2), k * (math.pi * (3 - math.sqrt(5)))
    return np.stack([ring * np.cos(golden), ring * np.sin(golden), height], axis=-1)
