"""The exact costs of parameters on given rounds, and smoothed descents that find better ones."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from odfl_cli.algorithms import Algorithm, on_problem
from odfl_cli.core.arrays import dot, map_arrays
from odfl_cli.engine.kernels import kernel_of
from odfl_cli.environments import Rounds
from odfl_cli.problem.problem import Problem
from odfl_cli.problem.surrogate import SmoothedCost

STEP_PREDICTIONS = 32_000  # the most that a step of a search makes
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


class Moments(NamedTuple):
    """Guesses from the moments of features and costs."""

    guesses: np.ndarray  # [C, m]
    metric: np.ndarray  # [m, m]: predictions vary alike along standard normals times it


@dataclass(frozen=True)
class Losses:
    """f(θ) = ⟨c, w*(θ)⟩ for many θ [C, m] on the rounds of one seed: X [N, d, p], costs [N, d].

    For any predictor, polytope and regulariser.
    """

    problem: Problem

    @property
    def batch(self) -> int:
        """The most rounds that a step of a search uses."""
        return 32

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
        for step, (alpha, rate) in enumerate(zip(descent.alphas, descent.rates, strict=True)):
            part = slice(step % descent.stride, stop, descent.stride)
            loss = SmoothedCost(self.problem, rounds.X[part], rounds.costs[part], float(alpha))
            gradients = np.stack([loss.gradient(theta).mean(0) for theta in thetas])
            direction = descent.momentum * direction + unit(gradients)
            thetas = self.problem.theta_set.project(thetas - rate * unit(direction))
        return thetas

    def moments(self, rounds: Rounds) -> Moments:
        """Good guesses and a metric for random directions: here none, and the identity."""
        m = self.problem.parameters
        return Moments(np.empty((0, m)), np.eye(m))

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


class CompiledLosses(Losses):
    """The linear model on the simplex, smoothed by entropy, in compiled loops."""

    @property
    def batch(self) -> int:
        """The more items, the fewer rounds."""
        return max(1, STEP_PREDICTIONS // self.problem.items)

    def totals(self, thetas: np.ndarray, blocks: Iterable[Rounds], stops: np.ndarray) -> np.ndarray:
        """Round by round, many parameters at once."""
        thetas, start = np.require(thetas, np.float64, ["C", "W"]), 0
        total, sums = np.zeros((len(thetas), 1)), np.empty((len(thetas), len(stops)))
        for X, costs in blocks:
            _kernel().score(X, costs, thetas, stops - start, total, sums)
            start += len(costs)
        return sums

    def descend(self, thetas: np.ndarray, rounds: Rounds, descent: Descent) -> np.ndarray:
        """One parameter after another, many rounds at once."""
        thetas, radius = np.array(thetas, order="C"), self.problem.theta_set.radius
        _kernel().descend(rounds.X, rounds.costs, *descent, radius, thetas)
        return thetas

    def moments(self, rounds: Rounds) -> Moments:
        """±θ of the lowest curvature, and least squares.

        With x and c less their means over the items of a round, for costs that are a function of
        ⟨x, θ*⟩ and Gaussian x: E[c x xᵀ] has θ* as its lowest eigenvector in the metric Σ = E[x xᵀ]
        if the cost falls on both sides, and Σ⁻¹ E[c x] has its direction.
        """
        p = self.problem.parameters
        S, M, m = np.zeros((p, p)), np.zeros((p, p)), np.zeros(p)
        stride = max(1, rounds.costs.size // MOMENT_PREDICTIONS)
        _search_kernel().moments(rounds.X, rounds.costs, stride, S, M, m)
        scales, axes = np.linalg.eigh(S)  # of the lower triangles
        keep = scales > MIN_VARIANCE * scales[-1]
        white = axes[:, keep] / np.sqrt(scales[keep] / scales[-1])
        full = M + np.tril(M, -1).T
        lowest = white @ np.linalg.eigh(white.T @ full @ white)[1][:, 0]
        guesses = unit(np.stack([lowest, -lowest, white @ (white.T @ m)]))
        return Moments(self.problem.theta_set.radius * guesses, white @ axes[:, keep].T)

    def lowest_on_line(
        self, theta: np.ndarray, direction: np.ndarray, rounds: Rounds, reach: float
    ) -> tuple[np.ndarray, float]:
        """The exact minimum: the places where the cost changes are enumerated and sorted."""
        total, s = _search_kernel().lowest_on_line(rounds.X, rounds.costs, theta, direction, reach)
        point = on_circle(self.problem, theta, direction, np.arctan([s]))[0]
        return point, total / len(rounds.costs)


class Plays:
    """The θ_t of the evaluation rounds, or the states where an algorithm overrides `decide`."""

    def __init__(self, algorithm: Algorithm) -> None:
        overrides = type(algorithm).decide is not Algorithm.decide
        self.by_state = overrides or algorithm.problem.kappa > 0.0
        self._algorithm = algorithm
        self._states: list[Any] = []
        self._thetas: list[np.ndarray] = []

    def add_state(self, state: Any) -> None:
        """The state before an evaluation round, of an algorithm that decides by it."""
        self._thetas.append(np.array(state.theta)[:, None])
        self._states.append(state)

    def add(self, thetas: np.ndarray) -> None:
        """θ_t of the next evaluation rounds, [S, A, m], of any other algorithm."""
        self._thetas.append(thetas)

    @cached_property
    def thetas(self) -> np.ndarray:
        """θ_t of all evaluation rounds, once they were added, [S, E, m]."""
        return np.concatenate(self._thetas, axis=1)

    def totals(
        self, losses: Losses, seed: int, part: slice, rounds: Rounds, stops: np.ndarray
    ) -> np.ndarray:
        """The costs up to each stop of what seed number `seed` played at each evaluation round, [E, stops]."""
        if not self.by_state:
            return losses.totals(self.thetas[seed, part], [rounds], stops)
        costs = np.stack([self._state_costs(state, seed, rounds) for state in self._states[part]])
        return np.cumsum(costs, axis=-1)[:, stops - 1]

    def _state_costs(self, state: Any, seed: int, rounds: Rounds) -> np.ndarray:
        """The costs [N] of deciding every round with this state."""
        size = len(rounds.costs)
        repeated = lambda x: np.broadcast_to(x[seed], (size, *x.shape[1:]))  # noqa: E731
        many = map_arrays(state, np.ndarray, repeated)
        algorithm = self._algorithm
        one = on_problem(algorithm, algorithm.problem.rows(slice(seed, seed + 1)))
        return dot(rounds.costs, one.decide(many, rounds.X)[1])


def losses_for(problem: Problem) -> Losses:
    """CompiledLosses where they apply, with their kernels loaded; else Losses."""
    if kernel_of(problem.predictor) == "linear" and kernel_of(problem.polytope) == "simplex":
        _kernel(), _search_kernel()
        return CompiledLosses(problem)
    return Losses(problem)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Scaled to length 1 over the last axis; 0 stays 0."""
    return vectors / np.maximum(np.sqrt((vectors**2).sum(-1, keepdims=True)), 1e-300)


def on_circle(
    problem: Problem, theta: np.ndarray, direction: np.ndarray, angles: np.ndarray
) -> np.ndarray:
    """cos φ θ + sin φ direction, scaled to the border of Θ, [C, m]."""
    points = np.cos(angles)[:, None] * theta + np.sin(angles)[:, None] * direction
    return problem.theta_set.radius * unit(points)


def _search_kernel() -> ModuleType:
    return import_module("odfl_cli.metrics.search_kernel")


def _kernel() -> ModuleType:
    return import_module("odfl_cli.metrics.sample_kernel")
