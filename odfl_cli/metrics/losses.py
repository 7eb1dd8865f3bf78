"""The exact costs of parameters on given rounds, and smoothed descents that find better ones."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import cycle
from typing import Literal, NamedTuple

import numpy as np

from odfl_cli.core.arrays import dot, unit
from odfl_cli.engine.kernels import kernel_of
from odfl_cli.environments.base import Rounds
from odfl_cli.metrics.line_search import lowest_piece
from odfl_cli.problem.ball import Ball
from odfl_cli.problem.problem import UNBOUNDED, Problem
from odfl_cli.problem.surrogate import SmoothedCost

STEP_PREDICTIONS = 32_000  # the most that a step of a search makes
SCORED_AT_ONCE = 50_000  # predictions that are held at a time, in a processor's own memory
MOMENT_PREDICTIONS = 5_000  # about so many are enough for moments
MIN_VARIANCE = 1e-10  # of a direction of features, as a share of the largest
ANGLES = np.pi / 2 * 2.0 ** -np.arange(0.5, 6.0)
"""Tried on either side of θ where the minimum on a half circle is not searched exactly."""


class Descent(NamedTuple):
    """Steps of given lengths, independent of the scale of the gradient; step s smooths by alphas[s]."""

    stride: int  # step s uses rounds s, s + stride, …, the same number in every step
    alphas: np.ndarray
    rates: np.ndarray
    momentum: float


class Losses:
    """f(θ) = ⟨c, w*(θ)⟩ for many θ [C, m] on the rounds of one seed: X [N, d, p], costs [N, d].

    For any predictor, polytope and regulariser.
    """

    order: Literal["K", "F"] = "K"  # of rounds in memory that `gradients` is fastest with

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.batch = 32  # the most rounds that a step of a search uses

    def round_costs(self, thetas: np.ndarray, rounds: Rounds) -> np.ndarray:
        """The cost of every parameter in every round, [C, N]."""
        predictor, polytope = self.problem.predictor, self.problem.polytope
        decisions = (polytope.minimise(predictor.predict(theta, rounds.X)) for theta in thetas)
        return np.stack([dot(rounds.costs, decision) for decision in decisions])

    def totals(self, thetas: np.ndarray, blocks: Iterable[Rounds], stops: np.ndarray) -> np.ndarray:
        """Σ_{n≤t} f_n(θ) of every parameter at the rounds t in `stops` (from 1, ascending), [C, stops]."""
        sums, start, total = np.empty((len(thetas), len(stops))), 0, np.zeros((len(thetas), 1))
        for rounds in blocks:
            costs = np.concatenate([total, self.round_costs(thetas, rounds)], axis=-1)
            cumulative, stop = np.cumsum(costs, axis=-1), start + len(rounds.costs)
            here = (stops > start) & (stops <= stop)
            sums[:, here] = cumulative[:, stops[here] - start]
            start, total = stop, cumulative[:, -1:]
        return sums

    def average(self, thetas: np.ndarray, rounds: Rounds) -> np.ndarray:
        """The average cost of every parameter, [C]."""
        size = len(rounds.costs)
        return self.totals(thetas, [rounds], np.array([size]))[:, 0] / size

    def descend(self, thetas: np.ndarray, rounds: Rounds, descent: Descent) -> np.ndarray:
        """The ends of projected descents on the smoothed cost f̃ that start at `thetas`, [C, m]."""
        direction = np.zeros_like(thetas)
        stop = len(rounds.costs) // descent.stride * descent.stride
        parts = [slice(first, stop, descent.stride) for first in range(descent.stride)]
        used = [Rounds(*(np.asarray(x[part], order=self.order) for x in rounds)) for part in parts]
        for part, (alpha, rate) in zip(
            cycle(used), zip(descent.alphas, descent.rates, strict=True)
        ):
            gradients = self.gradients(thetas, part, float(alpha))
            direction = descent.momentum * direction + unit(gradients)
            thetas = self.problem.theta_set.project(thetas - rate * unit(direction))
        return thetas

    def gradients(self, thetas: np.ndarray, rounds: Rounds, alpha: float) -> np.ndarray:
        """The gradients of the smoothed cost, summed over the rounds, up to a factor, [C, m]."""
        loss = SmoothedCost(self.problem, *rounds, alpha)
        return np.stack([loss.gradient(theta).sum(0) for theta in thetas])

    def moments(self, rounds: Rounds) -> tuple[np.ndarray, np.ndarray]:
        """Guesses [C, m] from moments of features and costs, and a metric [m, m].

        Predictions vary alike along standard normals times the metric. Here no guesses, and the identity.
        """
        m = self.problem.parameters
        return np.empty((0, m)), np.eye(m)

    def lowest_on_line(
        self, theta: np.ndarray, direction: np.ndarray, rounds: Rounds, reach: float
    ) -> tuple[np.ndarray, float]:
        """The best parameter θ + s·direction, |s| ≤ reach ≤ ∞, [m], and its average cost.

        For predictors that are linear in θ, whose decisions do not depend on the length of θ: the
        best of a few angles, denser towards θ. Otherwise θ, at an infinite cost.
        """
        if not hasattr(self.problem.predictor, "design"):
            return theta, np.inf
        angles = ANGLES[np.arctan(reach) >= ANGLES]
        tried = on_circle(self.problem, theta, direction, np.concatenate([-angles, angles]))
        values = self.average(tried, rounds)
        return tried[values.argmin()], float(values.min())


class LinearLosses(Losses):
    """The linear model on the simplex, smoothed by entropy: all parameters in one product per item."""

    order = "F"

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.batch = max(1, STEP_PREDICTIONS // problem.items)

    def round_costs(self, thetas: np.ndarray, rounds: Rounds) -> np.ndarray:
        (size, items), played = rounds.costs.shape, []
        step = max(1, SCORED_AT_ONCE // (len(thetas) * items))
        ranks = np.arange(items - 1, -1, -1, dtype=np.min_scalar_type(items))[:, None, None]
        for start in range(0, size, step):
            X = np.asfortranarray(rounds.X[start : start + step]).transpose(1, 2, 0)
            # a product per item: one of all items may give equal features other last digits
            predictions = thetas @ X
            lowest = ~(predictions > predictions.min(0))  # all items where θ is NaN
            played.append(items - 1 - (lowest * ranks).max(0))  # argmin(0), but faster
        return np.take_along_axis(rounds.costs.T, np.concatenate(played, axis=-1), axis=0)

    def gradients(self, thetas: np.ndarray, rounds: Rounds, alpha: float) -> np.ndarray:
        """Σ_n Xᵀ[w̃ ∘ (f̃ − c)] with w̃ = softmax(−Xθ/α) and f̃ = ⟨c, w̃⟩; w [d, C, N], the longest axis last."""
        X, costs = rounds.X.transpose(1, 2, 0), rounds.costs.T[:, None]
        w = (thetas / -alpha) @ X
        w -= w.max(0)
        np.exp(w, out=w)
        w /= w.sum(0)
        excess = w * costs
        np.subtract(excess.sum(0), costs, out=excess)
        w *= excess
        return (w @ X.swapaxes(1, 2)).sum(0)

    def moments(self, rounds: Rounds) -> tuple[np.ndarray, np.ndarray]:
        """±θ of the lowest curvature, and least squares.

        With x and c less their means over the items of a round, for costs that are a function of
        ⟨x, θ*⟩ and Gaussian x: E[c x xᵀ] has θ* as its lowest eigenvector in the metric Σ = E[x xᵀ]
        if the cost falls on both sides, and Σ⁻¹ E[c x] has its direction.
        """
        part = slice(None, None, max(1, rounds.costs.size // MOMENT_PREDICTIONS))
        X, costs = rounds.X[part], rounds.costs[part]
        x = (X - X.mean(1, keepdims=True)).reshape(-1, X.shape[-1])
        cx = (costs - costs.mean(1, keepdims=True)).reshape(-1, 1) * x
        scales, axes = np.linalg.eigh(x.T @ x)
        keep = scales > MIN_VARIANCE * scales[-1]
        if not keep.any():  # all items of a round have the same features
            return super().moments(rounds)
        white = axes[:, keep] / np.sqrt(scales[keep] / scales[-1])
        lowest = white @ np.linalg.eigh(white.T @ (cx.T @ x) @ white)[1][:, 0]
        guesses = unit(np.stack([lowest, -lowest, white @ (white.T @ cx.sum(0))]))
        return self.problem.theta_set.radius * guesses, white @ axes[:, keep].T

    def lowest_on_line(
        self, theta: np.ndarray, direction: np.ndarray, rounds: Rounds, reach: float
    ) -> tuple[np.ndarray, float]:
        """The exact minimum: the places where the cost changes are enumerated and sorted."""
        total, angle = lowest_piece(rounds, theta, direction, reach)
        point = on_circle(self.problem, theta, direction, np.array([angle]))[0]
        return point, total / len(rounds.costs)


def losses_for(problem: Problem) -> Losses:
    """LinearLosses where they apply, else Losses.

    Where Θ is unbounded and ĉ linear in θ the unit ball is searched: the scale of θ decides nothing.
    """
    if problem.theta_set.radius == UNBOUNDED and hasattr(problem.predictor, "design"):
        problem = replace(problem, theta_set=Ball(radius=1.0))
    if kernel_of(problem.predictor) == "linear" and kernel_of(problem.polytope) == "simplex":
        return LinearLosses(problem)
    return Losses(problem)


def on_circle(
    problem: Problem, theta: np.ndarray, direction: np.ndarray, angles: np.ndarray
) -> np.ndarray:
    """cos φ θ + sin φ direction, scaled to the border of Θ, [C, m]."""
    points = np.cos(angles)[:, None] * theta + np.sin(angles)[:, None] * direction
    return problem.theta_set.radius * unit(points)
