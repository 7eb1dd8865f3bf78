"""The contract of an engine."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from odfl_cli.algorithms import Algorithm
from odfl_cli.engine.notes import noted
from odfl_cli.environments import Rounds

Play = Callable[[int], None]
"""Plays a block of rounds for seed number s; raises a RoundError where it cannot."""


class Trace(NamedTuple):
    """What is recorded of a block of rounds, [S, B] each."""

    cost: np.ndarray  # ⟨c_t, w_t⟩
    mse: np.ndarray  # mean over items of (ĉ_t − c_t)²
    notes: dict[str, np.ndarray]  # by name; see engine/notes.py

    @classmethod
    def blank(cls, algorithm: Algorithm, seeds: int, rounds: int) -> "Trace":
        """Zeros, to be filled."""
        names = noted(algorithm)
        cost, mse, *notes = np.zeros((2 + len(names), seeds, rounds))
        return cls(cost, mse, dict(zip(names, notes, strict=True)))

    @classmethod
    def joined(cls, traces: Sequence["Trace"]) -> "Trace":
        """The traces of consecutive blocks as one."""
        if len(traces) == 1:
            return traces[0]
        join = lambda parts: np.concatenate(list(parts), axis=1)  # noqa: E731
        return cls(
            join(trace.cost for trace in traces),
            join(trace.mse for trace in traces),
            {name: join(trace.notes[name] for trace in traces) for name in traces[0].notes},
        )


class Engine(Protocol):
    """Plays and learns through a block. Same state, rounds and draws in, same numbers out."""

    @property
    def name(self) -> str:
        """For the log and summary.json."""

    def start(self, algorithm: Algorithm) -> None:
        """Loads what the run needs, so that loading is not counted as learning."""

    def advance(
        self, algorithm: Algorithm, state: Any, rounds: Rounds, draws: dict[str, np.ndarray]
    ) -> tuple[Any, Trace]:
        """The state after the block and its trace, in numpy arrays."""


class EngineChoice(Protocol):
    """What the configuration names: returns an engine once the algorithm is known."""

    def choose(self, algorithm: Algorithm) -> Engine:
        """The engine for this algorithm, or a UserError that says what is missing."""
