"""Several learners in the same rounds, each by its own kernel: what mixtures and restarts share."""

from typing import Any, NamedTuple

import numpy as np

from odfl_cli.algorithms import Algorithm
from odfl_cli.algorithms.mixture import Mixture
from odfl_cli.core.errors import RoundError
from odfl_cli.engine.base import NEWTON_STEPS, NO_ROUNDS, Trace
from odfl_cli.engine.compiled_engine import CompiledEngine, first_of
from odfl_cli.environments import Rounds

ENGINE = CompiledEngine()
"""On the threads that the job may use, or, called on one of them, on that alone."""


class Learner(NamedTuple):
    """An algorithm before a block of rounds."""

    algorithm: Algorithm
    state: Any
    draws: dict[str, np.ndarray]


def side_by_side(
    learners: list[Learner], rounds: Rounds, trace: Trace, asked: np.ndarray = NO_ROUNDS
) -> tuple[tuple[Any, ...], tuple[Trace, ...]]:
    """The learners' states after the block and their traces; `trace` counts the Newton steps of all.

    A RoundError for the first round that a learner cannot play.
    """
    played, failures = [], []
    for algorithm, state, draws in learners:
        try:
            played.append(ENGINE.advance(algorithm, state, rounds, draws, asked))
        except RoundError as failure:
            failures.append(failure)
    if failures:
        raise first_of(failures)
    states, traces = zip(*played, strict=True)
    if NEWTON_STEPS in trace.notes:
        trace.notes[NEWTON_STEPS][:] = sum(own.notes[NEWTON_STEPS] for own in traces)
    return states, traces


class Experts:
    """The learners of a mixture in a block of rounds; they do not depend on what it plays."""

    def __init__(
        self,
        mixture: Mixture,
        state: Any,
        rounds: Rounds,
        draws: dict[str, np.ndarray],
        trace: Trace,
    ) -> None:
        self._mixture, self._trace = mixture, trace
        learners = [
            Learner(one, inner, mixture.own(draws, k))
            for k, (one, inner) in enumerate(zip(mixture.learners, state.states, strict=True))
        ]
        self.states, self.traces = side_by_side(learners, rounds, trace)

    def paid(self, s: int) -> np.ndarray:
        """What they paid for seed number s, [B, N]; a RoundError where that is no number."""
        paid = np.stack([trace.cost[s] for trace in self.traces], axis=-1)
        wrong = np.argwhere(~np.isfinite(paid))
        if len(wrong):
            i, k = (int(index) for index in wrong[0])
            raise RoundError(i, s, self._mixture.complaint(k, float(paid[i, k])))
        return paid

    def report(self, s: int, leader: np.ndarray) -> None:
        """The squared errors of the learner that leads in each round [B]."""
        errors = np.stack([trace.mse[s] for trace in self.traces])
        self._trace.mse[s] = errors[leader, np.arange(len(leader))]
