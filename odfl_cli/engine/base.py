"""The contract of an engine, and the trace of rounds."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.environments.base import Rounds

KAPPA_GAP, SOLVER_LIMITS = "kappa_gap", "solver_limits"
MEANS = "law/means"
"""The name of E[c_t | X_t] [S, B, d] among the draws, with kappa_rule=worst."""


def note_names(algorithm: Algorithm) -> tuple[str, ...]:
    """The names of all records of a round besides cost and error."""
    gap = (KAPPA_GAP,) if algorithm.problem.kappa > 0 else ()
    counts = getattr(algorithm.problem.polytope, "counts_limits", False)
    limits = (SOLVER_LIMITS,) if counts else ()
    return (*algorithm.noted, *gap, *limits)


NO_ROUNDS = np.empty(0, dtype=np.int64)

Draws = dict[str, np.ndarray]
"""The draws of an algorithm in a block of rounds, by name, [S, B, …]."""

Play = Callable[[int], None]
"""Plays a block of rounds for seed number s; fills the state and the trace."""


class Trace(NamedTuple):
    """The records of a block of rounds, [S, B] each."""

    cost: np.ndarray  # ⟨c_t, w_t⟩
    mse: np.ndarray  # mean over items of (ĉ_t − c_t)²
    notes: dict[str, np.ndarray]  # by name: fields of the state, figures of the parts
    decision: np.ndarray = NO_ROUNDS  # w_t [S, B, d], or the number of its only item, [S, B]

    @classmethod
    def blank(cls, algorithm: Algorithm, seeds: int, rounds: int) -> "Trace":
        """A trace of zeros for a kernel to write to."""
        names = note_names(algorithm)
        cost, mse, *notes = np.zeros((2 + len(names), seeds, rounds))
        decision = np.zeros((seeds, rounds), dtype=np.int64)
        return cls(cost, mse, dict(zip(names, notes, strict=True)), decision)

    @classmethod
    def join(cls, traces: Sequence["Trace"], axis: int) -> "Trace":
        """One trace of different seeds in the same rounds (axis 0), or of consecutive blocks (1)."""
        if len(traces) == 1:
            return traces[0]
        cost, mse, notes, decision = zip(*traces, strict=True)
        join = partial(np.concatenate, axis=axis)
        noted = {name: join([each[name] for each in notes]) for name in notes[0]}
        return cls(join(cost), join(mse), noted, join(decision))

    def cut(self, start: int, stop: int) -> "Trace":
        """The trace of some of its rounds."""
        part = slice(start, stop)
        notes = {name: values[:, part] for name, values in self.notes.items()}
        decision = self.decision[:, part] if self.decision.size else self.decision
        return Trace(self.cost[:, part], self.mse[:, part], notes, decision)


class Engine(Protocol):
    """Plays and learns through a block. Same state, rounds and draws in, same numbers out."""

    @property
    def name(self) -> str:
        """The name in the log and in summary.json."""

    def start(self, algorithm: Algorithm) -> None:
        """Loads what the run needs, so that loading is not counted as learning."""
        return

    def advance(
        self, algorithm: Algorithm, state: Any, rounds: Rounds, draws: Draws
    ) -> tuple[Any, Trace]:
        """The state after the block and its trace, in numpy arrays."""
        with np.errstate(all="ignore"):  # numbers that overflow are found in the trace
            return self.play(algorithm, state, rounds, draws)

    def play(self, algorithm: Any, state: Any, rounds: Rounds, draws: Draws) -> tuple[Any, Trace]:
        """Implements `advance`."""
        raise NotImplementedError


class EngineChoice(Protocol):
    """The engine of a configuration: returns an engine for an algorithm."""

    def choose(self, algorithm: Algorithm) -> Engine:
        """The engine for this algorithm; raises a UserError that says what is missing."""
