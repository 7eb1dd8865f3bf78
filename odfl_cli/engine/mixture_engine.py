"""An engine for algorithms that weigh others: every learner is played by an engine of its own."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from odfl_cli.algorithms import Algorithm
from odfl_cli.core.errors import RoundError
from odfl_cli.engine.base import NEWTON_STEPS, NO_ROUNDS, Engine, EngineChoice, Trace, note_names
from odfl_cli.environments import Rounds


@dataclass(frozen=True)
class MixtureEngine:
    """Plays the learners of a mixture one after another; then the mixture weighs what they paid.

    The learners learn from every round whatever the mixture plays, so that their rounds come first.
    """

    engines: tuple[Engine, ...]  # of the learners

    @property
    def name(self) -> str:
        """The engines of the learners, each once."""
        return ", ".join(sorted({engine.name for engine in self.engines}))

    def start(self, algorithm: Algorithm) -> None:
        """Loads what the learners need."""
        for engine, learner in zip(self.engines, algorithm.learners, strict=True):
            engine.start(learner)

    def advance(
        self,
        algorithm: Any,
        state: Any,
        rounds: Rounds,
        draws: dict[str, np.ndarray],
        asked: np.ndarray = NO_ROUNDS,
    ) -> tuple[Any, Trace]:
        """The state after the block and its trace; a RoundError for the first round that fails."""
        played, failures = [], []
        learners = zip(self.engines, algorithm.learners, state.states, strict=True)
        for k, (engine, learner, inner) in enumerate(learners):
            try:
                played.append(engine.advance(learner, inner, rounds, algorithm.draws_of(k, draws)))
            except RoundError as failure:
                failures.append(failure)
        if failures:
            raise min(failures, key=lambda failure: (failure.round_index, failure.seed_index))
        states, traces = zip(*played, strict=True)
        paid = np.stack([trace.cost for trace in traces], axis=-1)
        with np.errstate(all="ignore"):
            state, cost, leader, notes = algorithm.weigh_block(state, paid)
        errors = np.stack([trace.mse for trace in traces], axis=-1)
        mse = np.take_along_axis(errors, leader[..., None], axis=-1)[..., 0]
        if NEWTON_STEPS in note_names(algorithm):
            notes[NEWTON_STEPS] = sum(trace.notes[NEWTON_STEPS] for trace in traces)
        return algorithm.with_states(state, states), Trace(cost, mse, notes)


def mixture_engine(algorithm: Algorithm, choice: EngineChoice) -> MixtureEngine | None:
    """The engine of a mixture whose learners `choice` plays; None for what is no such mixture.

    Learners are weighed by the costs that they pay, which a transformed target or κ would change.
    """
    if not algorithm.learners or algorithm.problem.beyond_papers:
        return None
    return MixtureEngine(tuple(choice.choose(learner) for learner in algorithm.learners))
