"""The contract of an engine, and what it records of every round."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from odfl_cli.algorithms import Algorithm
from odfl_cli.environments import Rounds

NEWTON_STEPS, KAPPA_GAP = "newton_steps", "kappa_gap"


def note_names(algorithm: Algorithm) -> tuple[str, ...]:
    """The names of everything that is recorded of a round beside cost and error."""
    steps = (NEWTON_STEPS,) if hasattr(algorithm.problem.regularizer, "smooth_counting") else ()
    gap = (KAPPA_GAP,) if algorithm.problem.kappa > 0 else ()
    return (*algorithm.noted, *steps, *gap)


NO_ROUNDS = np.empty(0, dtype=np.int64)
NO_THETAS = np.empty((0, 0, 0))

Play = Callable[[int], None]
"""Plays a block of rounds for group number k of seeds, or seed k; fills the state and the trace."""


class Trace(NamedTuple):
    """What is recorded of a block of rounds, [S, B] each, and the parameters of some of them."""

    cost: np.ndarray  # ⟨c_t, w_t⟩
    mse: np.ndarray  # mean over items of (ĉ_t − c_t)²
    notes: dict[str, np.ndarray]  # by name: fields of the state, figures of the parts
    asked: np.ndarray = NO_ROUNDS  # places in the block whose θ_t is kept, ascending, [A]
    thetas: np.ndarray = NO_THETAS  # θ_t of these, [S, A, m]

    @classmethod
    def blank(
        cls, algorithm: Algorithm, seeds: int, rounds: int, asked: np.ndarray = NO_ROUNDS
    ) -> "Trace":
        """Zeros, to be filled."""
        names = note_names(algorithm)
        cost, mse, *notes = np.zeros((2 + len(names), seeds, rounds))
        thetas = np.zeros((seeds, len(asked), algorithm.problem.parameters))
        return cls(cost, mse, dict(zip(names, notes, strict=True)), asked, thetas)

    @classmethod
    def together(cls, traces: Sequence["Trace"]) -> "Trace":
        """One trace of different seeds in the same rounds."""
        return cls._concatenated(traces, traces[0].asked, axis=0)

    @classmethod
    def joined(cls, traces: Sequence["Trace"]) -> "Trace":
        """One trace of consecutive blocks."""
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
