"""What parameters cost on given rounds, exactly, and the smoothed gradient that finds better ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Protocol

import numpy as np

from odfl_cli.arrays import dot
from odfl_cli.environments import Rounds
from odfl_cli.kernel_cache import load_kernel
from odfl_cli.polytopes import Simplex
from odfl_cli.predictors import Linear
from odfl_cli.problem import Problem
from odfl_cli.surrogate import SmoothedCost

PREDICTIONS = 8_000
"""The most predictions that a step of a search takes."""


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

    def gradients(
        self, thetas: np.ndarray, rounds: Rounds, first: int, stride: int, alpha: float
    ) -> np.ndarray:
        """∇f̃ averaged over rounds first, first + stride, …, [C, m]."""


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

    def gradients(
        self, thetas: np.ndarray, rounds: Rounds, first: int, stride: int, alpha: float
    ) -> np.ndarray:
        """Smoothed by the problem's own regulariser."""
        part = slice(first, None, stride)
        loss = SmoothedCost(self.problem, rounds.X[part], rounds.costs[part], alpha)
        return np.stack([loss.gradient(theta).mean(0) for theta in thetas])


@dataclass(frozen=True)
class CompiledLosses:
    """The linear model on the simplex, smoothed by entropy, in compiled loops."""

    problem: Problem

    @property
    def batch(self) -> int:
        """The more items, the fewer rounds."""
        return max(1, PREDICTIONS // self.problem.items)

    def paid(self, thetas: np.ndarray, rounds: Rounds) -> np.ndarray:
        """Round by round, a few parameters at once."""
        paid = np.empty((len(thetas), len(rounds.costs)))
        columns = np.empty((len(rounds.costs), _kernel().LANES))
        for lanes, part in _lanes(thetas):
            _kernel().score(rounds.X, rounds.costs, lanes, columns)
            paid[part] = columns.T[: len(paid[part])]
        return paid

    def gradients(
        self, thetas: np.ndarray, rounds: Rounds, first: int, stride: int, alpha: float
    ) -> np.ndarray:
        """Round by round, a few parameters at once."""
        gradients = np.empty_like(thetas)
        for lanes, part in _lanes(thetas):
            out = np.empty_like(lanes)
            _kernel().gradients(rounds.X, rounds.costs, first, stride, lanes, alpha, out)
            gradients[part] = out.T[: len(gradients[part])]
        return gradients


def losses_for(problem: Problem) -> Losses:
    """The compiled ones where they apply."""
    if type(problem.predictor) is Linear and type(problem.polytope) is Simplex:
        return CompiledLosses(problem)
    return GeneralLosses(problem)


def _kernel() -> ModuleType:
    return load_kernel("odfl_cli.metrics.sample_kernel")


def _lanes(thetas: np.ndarray) -> Iterator[tuple[np.ndarray, slice]]:
    """The parameters as the kernels take them, [m, LANES], the last ones filled up with zeros."""
    size = _kernel().LANES
    for start in range(0, len(thetas), size):
        part = slice(start, start + size)
        lanes = np.zeros((thetas.shape[1], size))
        lanes[:, : len(thetas[part])] = thetas[part].T
        yield lanes, part
