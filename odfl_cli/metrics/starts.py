"""Where the search for a comparator starts, and what is scored without a search."""

import numpy as np

from odfl_cli.core.streams import Draw, draw
from odfl_cli.problem.problem import Problem


def scatter(problem: Problem, seed: int, count: int) -> np.ndarray:
    """Random points on the border of Θ, [count, m]."""
    normal = draw((seed,), "metrics/start", Draw("normal", (problem.parameters,)), 0, count)[0]
    length = np.sqrt((normal**2).sum(-1, keepdims=True))
    return problem.theta_set.project(problem.theta_set.radius * normal / length)


def with_scattered(near: np.ndarray, scattered: np.ndarray) -> np.ndarray:
    """`near` [C, m], and as many of the scattered as make their number complete, one at least."""
    return np.concatenate([near, scattered[: max(1, len(scattered) - len(near))]])


def spread_out(thetas: np.ndarray, count: int) -> np.ndarray:
    """At most `count` of the parameters [E, m], evenly chosen, the last one among them; none is 0."""
    nonzero = thetas[np.abs(thetas).max(-1) > 0]
    if len(nonzero) <= count:
        return nonzero
    return nonzero[np.linspace(len(nonzero) / count, len(nonzero), count).round().astype(int) - 1]


def always_scored(thetas: np.ndarray, count: int) -> np.ndarray:
    """0, and some of the parameters [E, m] that were played: an infimum is above none of them."""
    return np.concatenate([np.zeros((1, thetas.shape[1])), spread_out(thetas, count)])
