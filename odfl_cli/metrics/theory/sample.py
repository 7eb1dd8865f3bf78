"""Rounds and parameters on which the paper's constants are measured and its lemmas checked."""

from typing import NamedTuple

import numpy as np

from odfl_cli.core.streams import Draw, draw
from odfl_cli.engine.kernels import kernel_of
from odfl_cli.environments.base import Environment
from odfl_cli.problem.problem import Problem

CONSECUTIVE = 16  # rounds taken at a time
ROUNDING = 1e-9  # more than eigenvalues are off by it


class Sample(NamedTuple):
    """N rounds of a run and as many parameters on the sphere ‖θ‖ = R."""

    problem: Problem
    X: np.ndarray  # [N, d, p]
    costs: np.ndarray  # [N, d]
    theta: np.ndarray  # [N, m]


def sample_rounds(
    environment: Environment, problem: Problem, seeds: tuple[int, ...], size: int = 1024
) -> Sample:
    """About `size` rounds of the run, spread evenly over its seeds and its horizon."""
    together = min(CONSECUTIVE, problem.rounds)
    places = max(1, size // (together * len(seeds)))
    starts = np.unique(np.linspace(0, problem.rounds - together, places).astype(int))
    blocks = [environment.rounds(seeds[:size], int(t), int(t) + together) for t in starts]
    X = np.concatenate([block.X.reshape(-1, *block.X.shape[2:]) for block in blocks])
    costs = np.concatenate([block.costs.reshape(-1, block.costs.shape[-1]) for block in blocks])
    return Sample(problem, X, costs, on_the_sphere(problem, len(X)))


def on_the_sphere(
    problem: Problem, count: int, stream: str = "theory/directions", seed: int = 0
) -> np.ndarray:
    """Parameters of norm R in random directions, by default the same in every run, [count, m]."""
    normals = draw((seed,), stream, Draw("normal", (problem.parameters,)), 0, count)[0]
    return problem.theta_set.radius * normals / np.sqrt((normals**2).sum(-1, keepdims=True))


def slopes(sample: Sample) -> np.ndarray:
    """‖∇_θ g(θ, X)‖ in operator norm for every round, [N]; the gradient of a linear g is X."""
    if kernel_of(sample.problem.predictor) == "linear":
        return np.sqrt(np.linalg.eigvalsh(_gram(sample.X))[:, -1])
    vjp, items = sample.problem.predictor.vjp, np.eye(sample.problem.items)
    shape = sample.costs.shape
    rows = [vjp(sample.theta, sample.X, np.broadcast_to(item, shape)) for item in items]
    return np.linalg.norm(np.stack(rows, axis=1), ord=2, axis=(-2, -1))


def largest_slope(sample: Sample) -> float:
    """The largest of the slopes.

    Of a linear g, rounds are left out that cannot have it: no eigenvalue of XᵀX exceeds its row sums.
    """
    if kernel_of(sample.problem.predictor) == "linear":
        limits = np.abs(_gram(sample.X)).sum(-1).max(-1)
        reached = slopes(sample._replace(X=sample.X[limits.argmax(keepdims=True)])) ** 2
        sample = sample._replace(X=sample.X[~(limits < (1 - ROUNDING) * reached)])
    return float(slopes(sample).max())


def _gram(X: np.ndarray) -> np.ndarray:
    """XᵀX or XXᵀ of every round, the smaller one; their largest eigenvalues are the same."""
    tall = X if X.shape[1] >= X.shape[2] else X.mT
    return np.matmul(tall.mT, tall)
