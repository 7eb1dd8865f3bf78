"""What parameters cost on given rounds, exactly, and the smoothed gradient that finds better ones."""

from dataclasses import dataclass
from types import ModuleType
from typing import NamedTuple, Protocol

import numpy as np

from odfl_cli.core.arrays import dot
from odfl_cli.core.kernel_cache import load_kernel
from odfl_cli.environments import Rounds
from odfl_cli.problem.polytopes import Simplex
from odfl_cli.problem.predictors import Linear
from odfl_cli.problem.problem import Problem
from odfl_cli.problem.surrogate import SmoothedCost

PREDICTIONS = 8_000
"""The most predictions that a step of a search takes."""

TOGETHER = 8
"""The compiled loops want a multiple of so many parameters."""


class Descent(NamedTuple):
    """Steps of given lengths, which need no tuning to a problem's scale; step s smooths by alphas[s]."""

    stride: int  # step s sees rounds s, s + stride, …, of which there are as many for all steps
    alphas: np.ndarray
    rates: np.ndarray
    momentum: float


class Losses(Protocol):
    """f(θ) = ⟨c, w*(θ)⟩ for many θ [C, m] on the rounds of one seed: X [N, d, p], costs [N, d]."""

    @property
    def problem(self) -> Problem:
        """Where the parameters live."""

    @property
    def batch(self) -> int:
        """The most rounds that a step of a search can afford."""

    def paid(self, thetas: np.ndarray, rounds: Rounds) -> np.ndarray:
        """The cost of every parameter in every round, [C, N]."""

    def descend(self, thetas: np.ndarray, rounds: Rounds, descent: Descent) -> np.ndarray:
        """Where projected descents on the smoothed cost f̃ end that start at `thetas`, [C, m]."""


@dataclass(frozen=True)
class GeneralLosses:
    """Through the contracts of predictor, polytope and regulariser: for any of them."""

    problem: Problem
    batch: int = 32

    def paid(self, thetas: np.ndarray, rounds: Rounds) -> np.ndarray:
        """One parameter after another."""
        predictor, polytope = self.problem.predictor, self.problem.polytope
        decisions = (polytope.minimise(predictor.predict(theta, rounds.X)) for theta in thetas)
        return np.stack([dot(rounds.costs, decision) for decision in decisions])

    def descend(self, thetas: np.ndarray, rounds: Rounds, descent: Descent) -> np.ndarray:
        """Smoothed by the problem's own regulariser."""
        direction = np.zeros_like(thetas)
        stop = len(rounds.costs) // descent.stride * descent.stride
        for step, (alpha, rate) in enumerate(zip(descent.alphas, descent.rates, strict=True)):
            part = slice(step % descent.stride, stop, descent.stride)
            loss = SmoothedCost(self.problem, rounds.X[part], rounds.costs[part], float(alpha))
            gradients = np.stack([loss.gradient(theta).mean(0) for theta in thetas])
            direction = descent.momentum * direction + unit(gradients)
            thetas = self.problem.theta_set.project(thetas - rate * unit(direction))
        return thetas


@dataclass(frozen=True)
class CompiledLosses:
    """The linear model on the simplex, smoothed by entropy, in compiled loops."""

    problem: Problem

    @property
    def batch(self) -> int:
        """The more items, the fewer rounds."""
        return max(1, PREDICTIONS // self.problem.items)

    def paid(self, thetas: np.ndarray, rounds: Rounds) -> np.ndarray:
        """Round by round, all parameters at once."""
        count = len(thetas)
        columns = np.zeros((thetas.shape[1], -(-count // TOGETHER) * TOGETHER))
        columns[:, :count] = thetas.T
        paid = np.empty((columns.shape[1], len(rounds.costs)))
        _kernel().score(rounds.X, rounds.costs, columns, paid)
        return paid[:count]

    def descend(self, thetas: np.ndarray, rounds: Rounds, descent: Descent) -> np.ndarray:
        """One parameter after another, many rounds at once."""
        thetas, radius = np.array(thetas, order="C"), self.problem.theta_set.radius
        _kernel().descend(rounds.X, rounds.costs, *descent, radius, thetas)
        return thetas


def losses_for(problem: Problem) -> Losses:
    """The compiled ones where they apply, with their kernel loaded."""
    if type(problem.predictor) is Linear and type(problem.polytope) is Simplex:
        _kernel()
        return CompiledLosses(problem)
    return GeneralLosses(problem)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Of length 1 over the last axis; 0 stays."""
    return vectors / np.maximum(np.sqrt((vectors**2).sum(-1, keepdims=True)), 1e-300)


def _kernel() -> ModuleType:
    return load_kernel("odfl_cli.metrics.sample_kernel")
