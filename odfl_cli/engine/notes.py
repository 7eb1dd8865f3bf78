"""What is noted of every round: by the algorithm of its state, by the engine of the parts."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from odfl_cli.algorithms import Algorithm
from odfl_cli.core.arrays import Array
from odfl_cli.problem.regularizers import LogBarrier

NEWTON_STEPS, KAPPA_GAP = "newton_steps", "kappa_gap"


def counts_newton_steps(algorithm: Algorithm) -> bool:
    """Whether a log barrier does the smoothing."""
    return isinstance(algorithm.problem.regularizer, LogBarrier)


def has_kappa_gap(algorithm: Algorithm) -> bool:
    """Whether decisions may miss the best predicted cost."""
    return algorithm.problem.solver.kappa > 0


def noted(algorithm: Algorithm) -> tuple[str, ...]:
    """The names of all notes, those of the algorithm first."""
    steps = (NEWTON_STEPS,) if counts_newton_steps(algorithm) else ()
    gap = (KAPPA_GAP,) if has_kappa_gap(algorithm) else ()
    return (*algorithm.noted, *steps, *gap)


@dataclass
class CountingBarrier:
    """A log barrier that adds up the Newton steps of every seed."""

    barrier: LogBarrier
    steps: np.ndarray = field(default_factory=lambda: np.zeros(0))  # [S]

    @property
    def suboptimality(self) -> float:
        """The barrier's."""
        return self.barrier.suboptimality

    def smooth(self, g: Array, alpha: Array) -> Array:
        """The barrier's decision; rows of g lead with the seeds."""
        w, steps = self.barrier.smooth_counting(g, alpha)
        self.steps += steps.reshape(len(self.steps), -1).sum(1)
        return w

    def vjp(self, w: Array, alpha: Array, v: Array) -> Array:
        """The barrier's."""
        return self.barrier.vjp(w, alpha, v)

    def take(self) -> np.ndarray:
        """The steps since they were last taken, [S]."""
        taken, self.steps = self.steps, np.zeros_like(self.steps)
        return taken


def counting(algorithm: Algorithm, seeds: int) -> tuple[Any, CountingBarrier | None]:
    """The algorithm with a barrier that counts, and that barrier; as it is if it has none."""
    problem = algorithm.problem
    if not isinstance(problem.regularizer, LogBarrier):
        return algorithm, None
    barrier = CountingBarrier(problem.regularizer, np.zeros(seeds))
    return replace(algorithm, problem=replace(problem, regularizer=barrier)), barrier
