"""Points of Θ that compete: where they come from and which one wins."""

from odfl_cli.core.arrays import Array, array_namespace


def best_of(candidates: Array, values: Array) -> Array:
    """Of candidates [N, S, m] with values [N, S] every seed's lowest, [S, m]; the first of equals."""
    xp = array_namespace(values)
    best = xp.argmin(values, axis=0)
    return candidates[best, xp.arange(best.shape[0], device=best.device)]


def uniform_in_ball(normals: Array, radius: float) -> Array:
    """Points uniform in the ball of R^m from standard normal draws [..., m + 2].

    The first m coordinates of a point uniform on the sphere of R^{m+2} are uniform in the ball.
    """
    xp = array_namespace(normals)
    norm = xp.sqrt((normals**2).sum(-1))[..., None]
    return radius * normals[..., :-2] / norm
