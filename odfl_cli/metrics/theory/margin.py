"""Assumption 2: the margin between the best and the second best vertex."""

import math
from typing import Any

import numpy as np

from odfl_cli.environments.base import Environment
from odfl_cli.metrics.theory.sample import Sample, on_the_sphere, sample_rounds
from odfl_cli.metrics.theory.theorems import Margin
from odfl_cli.problem.polytopes.linear import DecisionSet, is_simplex
from odfl_cli.problem.problem import Problem

TAIL = 0.1  # share of the smallest margins that the exponent is estimated from
NOISY = 10  # so many of the smallest margins are too noisy to use
DIRECTIONS = 8  # of θ that margins are measured in
SAMPLE, POINTS = 1024, 40  # of the report


def margin_sample(problem: Problem, X: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """min_{j≠I} ⟨g(θ, X), v_j − v_I⟩ over the vertices, [...]; leading axes broadcast.

    Exact on the simplex and where every vertex has its coordinates at their extremes (box, budget,
    paths, assignments); elsewhere some vertices may be missed, and the margin is an upper estimate.
    """
    prediction = problem.predictor.predict(theta, X)
    if is_simplex(problem.polytope):
        lowest = np.partition(prediction, 1, axis=-1)
        return lowest[..., 1] - lowest[..., 0]
    return _vertex_margin(problem.polytope, prediction)


def directional_margins(sample: Sample) -> np.ndarray:
    """The margins of every round at ‖θ‖ = R in a few directions, [DIRECTIONS, N]."""
    directions = on_the_sphere(sample.problem, DIRECTIONS)[:, None, :]
    return margin_sample(sample.problem, sample.X, directions)


def _vertex_margin(polytope: DecisionSet, costs: np.ndarray) -> np.ndarray:
    """The gap to the next best vertex, found by raising and lowering the cost of each coordinate in turn."""
    best = polytope.minimise(costs)
    lowest = (costs * best).sum(-1)
    margin = np.full(lowest.shape, np.inf)
    push = 1.0 + 4.0 * np.abs(costs).sum(-1)
    for pushed in (sign * item for item in np.eye(polytope.dimension) for sign in (1.0, -1.0)):
        other = polytope.minimise(costs + push[..., None] * pushed)
        gap = (costs * other).sum(-1) - lowest
        differs = np.abs(other - best).max(-1) > 1e-9
        margin = np.where(differs, np.minimum(margin, gap), margin)
    return margin


def fit_margin(margins: np.ndarray) -> Margin:
    """The envelope C_0 ε^β above the empirical distribution of every row of margins [..., N].

    β is Hill's estimate from the smallest margins, at most 1; C_0 is the least that keeps every row's
    distribution below the curve from the tenth smallest margin on, infinite if that margin is 0.
    """
    rows = np.sort(np.atleast_2d(margins), axis=-1)
    count = rows.shape[-1]
    first = min(NOISY, count) - 1
    if (rows[:, first] <= 0).any():
        return Margin(math.inf, 1.0)
    beta = min(_exponent(row[row > 0]) for row in rows)
    share = np.arange(first + 1, count + 1) / count
    return Margin(float((share / rows[:, first:] ** beta).max()), beta)


def _exponent(row: np.ndarray) -> float:
    """The slope of the tail of a sorted row, or 1 if that lies within two standard errors."""
    count = min(len(row) - 1, max(NOISY, int(TAIL * len(row))))
    if count < 1:  # one margin has no tail
        return 1.0
    excess = float(np.log(row[count] / row[:count]).mean())
    return 1.0 if excess <= 1 + 2 / math.sqrt(count) else 1 / excess


def gaussian_margin(covariance: np.ndarray, norm: float = 1.0) -> Margin:
    """The paper's proposition for g = Xθ on the simplex, ‖θ‖ = norm, X with Gaussian columns.

    Columns are independent N(0, covariance). By the union bound over pairs of items C_0 is the sum
    of 2 / (√(2π) s_ij) with s_ij² = ‖θ‖² Var(x_i − x_j); the identity gives d(d − 1) / (2√π).
    """
    variance = np.diag(covariance)
    first, second = np.triu_indices(len(covariance), 1)
    spread = variance[first] + variance[second] - 2 * covariance[first, second]
    return Margin(float((2 / np.sqrt(2 * math.pi * spread)).sum() / norm), 1.0)


def margin_report(
    environment: Environment, problem: Problem, seeds: tuple[int, ...]
) -> dict[str, Any]:
    """The share of margins below ε on a grid, in the worst of a few directions, and its envelope."""
    problem = problem.rows(slice(1))  # around the parameters that the first seed starts from
    sample = sample_rounds(environment, problem, seeds, SAMPLE)
    margins = np.sort(directional_margins(sample), axis=-1)
    fitted = fit_margin(margins)
    if not np.isfinite(fitted.c0):
        return {}
    tenth = margins[:, min(NOISY, margins.shape[-1]) - 1]
    epsilon = np.geomspace(max(tenth.min(), 1e-12), margins.max(), POINTS)
    below = [np.searchsorted(row, epsilon, side="right") / row.size for row in margins]
    share = np.max(below, axis=0).tolist()
    return {"margin": {"epsilon": epsilon.tolist(), "share": share, **fitted._asdict()}}
