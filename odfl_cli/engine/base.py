"""The contract of an engine, and what it records of every round."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from odfl_cli.algorithms import Algorithm, on_problem
from odfl_cli.core.arrays import Array
from odfl_cli.environments import Rounds

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


NO_ROUNDS = np.empty(0, dtype=np.int64)
NO_THETAS = np.empty((0, 0, 0))

Play = Callable[[int], None]
"""Plays a block of rounds for seed or group of seeds number s; raises a RoundError where it cannot."""


class Trace(NamedTuple):
    """What is recorded of a block of rounds, [S, B] each, and the parameters of some of them."""

    cost: np.ndarray  # ⟨c_t, w_t⟩
    mse: np.ndarray  # mean over items of (ĉ_t − c_t)²
    notes: dict[str, np.ndarray]  # by name: fields of the state, figures of the parts
    asked: np.ndarray = NO_ROUNDS  # the places of those in the block, ascending, [A]
    thetas: np.ndarray = NO_THETAS  # θ_t of these, [S, A, m]

    @classmethod
    def blank(
        cls, algorithm: Algorithm, seeds: int, rounds: int, asked: np.ndarray = NO_ROUNDS
    ) -> "Trace":
        """Zeros, to be filled."""
        names = noted(algorithm)
        cost, mse, *notes = np.zeros((2 + len(names), seeds, rounds))
        thetas = np.zeros((seeds, len(asked), algorithm.problem.parameters))
        return cls(cost, mse, dict(zip(names, notes, strict=True)), asked, thetas)

    def part(self, seeds: slice, rounds: slice) -> "Trace":
        """Some seeds and consecutive rounds of it, to be filled: its arrays are those of this trace."""
        first, last = np.searchsorted(self.asked, (rounds.start, rounds.stop))
        return Trace(
            self.cost[seeds, rounds],
            self.mse[seeds, rounds],
            {name: values[seeds, rounds] for name, values in self.notes.items()},
            self.asked[first:last] - rounds.start,
            self.thetas[seeds, first:last],
        )

    @classmethod
    def together(cls, traces: Sequence["Trace"]) -> "Trace":
        """The traces of different seeds in the same rounds as one."""
        return cls._concatenated(traces, traces[0].asked, axis=0)

    @classmethod
    def joined(cls, traces: Sequence["Trace"]) -> "Trace":
        """The traces of consecutive blocks as one."""
        if len(traces) == 1:
            return traces[0]
        starts = np.cumsum([0, *(trace.cost.shape[1] for trace in traces[:-1])])
        places = [start + trace.asked for start, trace in zip(starts, traces, strict=True)]
        return cls._concatenated(traces, np.concatenate(places), axis=1)

    @classmethod
    def _concatenated(cls, traces: Sequence["Trace"], asked: np.ndarray, axis: int) -> "Trace":
        join = lambda parts: np.concatenate(list(parts), axis=axis)  # noqa: E731
        return cls(
            join(trace.cost for trace in traces),
            join(trace.mse for trace in traces),
            {name: join(trace.notes[name] for trace in traces) for name in traces[0].notes},
            asked,
            join(trace.thetas for trace in traces),
        )


class Engine(Protocol):
    """Plays and learns through a block. Same state, rounds and draws in, same numbers out."""

    @property
    def name(self) -> str:
        """For the log and summary.json."""

    def start(self, algorithm: Algorithm) -> None:
        """Loads what the run needs, so that loading is not counted as learning."""

    def advance(
        self,
        algorithm: Algorithm,
        state: Any,
        rounds: Rounds,
        draws: dict[str, np.ndarray],
        asked: np.ndarray = NO_ROUNDS,
    ) -> tuple[Any, Trace]:
        """The state after the block and its trace, in numpy arrays.

        The trace has θ_t of the rounds `asked`, places in the block, where the algorithm decides by θ_t alone.
        """


class EngineChoice(Protocol):
    """What the configuration names: returns an engine once the algorithm is known."""

    def choose(self, algorithm: Algorithm) -> Engine:
        """The engine for this algorithm, or a UserError that says what is missing."""
