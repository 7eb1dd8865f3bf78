"""What is recorded of every round: fields of the algorithm's state, and figures of the parts."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from odfl_cli.algorithms import Algorithm, on_problem
from odfl_cli.core.arrays import Array

NEWTON_STEPS, KAPPA_GAP = "newton_steps", "kappa_gap"


def noted(algorithm: Algorithm) -> tuple[str, ...]:
    """The names of all notes, those of the algorithm first."""
    steps = (NEWTON_STEPS,) if hasattr(algorithm.problem.regularizer, "smooth_counting") else ()
    gap = (KAPPA_GAP,) if algorithm.problem.kappa > 0 else ()
    return (*algorithm.noted, *steps, *gap)


@dataclass
class Counting:
    """A regulariser that adds up the Newton steps of every seed."""

    regularizer: Any  # with smooth_counting
    steps: np.ndarray  # [S]

    @property
    def suboptimality(self) -> float:
        """That of the regulariser."""
        return self.regularizer.suboptimality

    def smooth(self, g: Array, alpha: Array) -> Array:
        """The smoothed decision; the first axis of g is the seeds."""
        w, steps = self.regularizer.smooth_counting(g, alpha)
        self.steps += steps.reshape(len(self.steps), -1).sum(1)
        return w

    def vjp(self, w: Array, alpha: Array, v: Array) -> Array:
        """That of the regulariser."""
        return self.regularizer.vjp(w, alpha, v)

    def take(self) -> np.ndarray:
        """The steps since the last call, [S]."""
        taken, self.steps = self.steps, np.zeros_like(self.steps)
        return taken


def counting(algorithm: Algorithm, seeds: int) -> tuple[Any, Counting | None]:
    """The algorithm with a regulariser that counts, and that regulariser; unchanged if it cannot."""
    problem = algorithm.problem
    if not hasattr(problem.regularizer, "smooth_counting"):
        return algorithm, None
    counter = Counting(problem.regularizer, np.zeros(seeds))
    return on_problem(algorithm, replace(problem, regularizer=counter)), counter
