"""The general engine: numpy arrays, for every algorithm and part that needs no torch."""

from typing import Any, ClassVar

import numpy as np

from odfl_cli.algorithms import Algorithm
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import settings
from odfl_cli.engine.base import NO_ROUNDS, Engine, Trace
from odfl_cli.engine.mixture_engine import mixture_engine
from odfl_cli.engine.rounds import play_rounds
from odfl_cli.environments import Rounds


@settings
class ArrayEngine:
    """Calls decide and update per round, all seeds at once."""

    name: ClassVar[str] = "array"

    def choose(self, algorithm: Algorithm) -> Engine:
        """Itself; a UserError where the predictor is a torch module."""
        if needs_torch(algorithm):
            raise UserError("engine=array: the predictor is a torch module; choose engine=torch")
        return mixture_engine(algorithm, self) or self

    def start(self, algorithm: Algorithm) -> None:
        """Nothing is to be loaded."""

    def advance(
        self,
        algorithm: Algorithm,
        state: Any,
        rounds: Rounds,
        draws: dict[str, np.ndarray],
        asked: np.ndarray = NO_ROUNDS,
    ) -> tuple[Any, Trace]:
        """Plays the block; numbers that overflow are found in the trace."""
        with np.errstate(all="ignore"):
            return play_rounds(algorithm, state, *rounds, draws, asked)


def needs_torch(algorithm: Algorithm) -> bool:
    """Whether its predictor, or that of one of its learners, is a torch module."""
    predictors = [one.problem.predictor for one in (algorithm, *algorithm.learners)]
    return any(getattr(predictor, "needs_torch", False) for predictor in predictors)
