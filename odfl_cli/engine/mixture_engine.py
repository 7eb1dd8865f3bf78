"""An engine for mixtures: every learner has its own engine."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.core.arrays import dot
from odfl_cli.core.errors import RoundError
from odfl_cli.engine.base import (
    SOLVER_LIMITS,
    Draws,
    Engine,
    EngineChoice,
    Trace,
    note_names,
)
from odfl_cli.environments.base import Rounds


@dataclass(frozen=True)
class MixtureEngine(Engine):
    """Plays the learners of a mixture first, as they learn whatever it plays, then the mixture itself."""

    engines: tuple[Engine, ...]  # of the learners

    @property
    def name(self) -> str:
        return ", ".join(sorted({engine.name for engine in self.engines}))

    def start(self, algorithm: Algorithm) -> None:
        for engine, learner in zip(self.engines, algorithm.learners, strict=True):
            engine.start(learner)

    def play(self, algorithm: Any, state: Any, rounds: Rounds, draws: Draws) -> tuple[Any, Trace]:
        """Plays every learner's block, then the mixture's; raises a RoundError for the first failed round."""
        played, failures = [], []
        learners = zip(self.engines, algorithm.learners, state.states, strict=True)
        for k, (engine, learner, inner) in enumerate(learners):
            try:
                drawn = algorithm.draws_of(k, draws)
                played.append(engine.advance(learner, inner, rounds, drawn))
            except RoundError as failure:
                failures.append(failure)
        if failures:
            raise min(failures, key=lambda failure: (failure.round_index, failure.seed_index))
        states, traces = zip(*played, strict=True)
        paid = np.stack([trace.cost for trace in traces], axis=-1)
        state, shares, leader, notes = algorithm.weigh_block(state, paid)
        errors = np.stack([trace.mse for trace in traces], axis=-1)
        mse = np.take_along_axis(errors, leader[..., None], axis=-1)[..., 0]
        if SOLVER_LIMITS in note_names(algorithm):
            notes[SOLVER_LIMITS] = sum(trace.notes[SOLVER_LIMITS] for trace in traces)
        first = paid[..., :1]  # equal costs mix to exactly that cost
        cost = first[..., 0] + dot(shares, paid - first)
        decision = np.zeros(rounds.costs.shape)
        for k, trace in enumerate(traces):
            decision += shares[..., k, None] * as_vectors(trace.decision, rounds.costs.shape[-1])
        mixed = Trace(cost, mse, notes, decision)
        return algorithm.with_states(state, states), mixed


def as_vectors(decision: np.ndarray, d: int) -> np.ndarray:
    """Decisions of a trace as vectors, [S, B, d]."""
    return decision if decision.ndim == 3 else np.arange(d) == decision[..., None]


def mixture_engine(algorithm: Algorithm, choice: EngineChoice) -> MixtureEngine | None:
    """The engine of a mixture; None for others, and with a target or κ, which change the costs to weight by."""
    if not algorithm.learners or algorithm.problem.beyond_papers:
        return None
    return MixtureEngine(tuple(choice.choose(learner) for learner in algorithm.learners))
