"""The general engine: numpy arrays, for every algorithm and part without torch."""

from typing import Any, ClassVar

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import settings
from odfl_cli.engine.base import Draws, Engine, Trace
from odfl_cli.engine.groups import Group, count_processes, join, play_in_processes, split
from odfl_cli.engine.mixture_engine import mixture_engine
from odfl_cli.engine.rounds import play_rounds
from odfl_cli.environments.base import Rounds


@settings
class ArrayEngine(Engine):
    """Calls decide and update per round, all seeds at once."""

    name: ClassVar[str] = "array"

    def choose(self, algorithm: Algorithm) -> Engine:
        """Itself; raises a UserError if the predictor is a torch module."""
        if needs_torch(algorithm):
            raise UserError("engine=array: the predictor is a torch module; choose engine=torch")
        return mixture_engine(algorithm, self) or self

    def play(self, algorithm: Any, state: Any, rounds: Rounds, draws: Draws) -> tuple[Any, Trace]:
        """Plays round after round; seeds in parallel processes if the decision set has a slow solver."""
        processes = count_processes(algorithm, rounds)
        if processes > 1:
            size = -(-len(rounds.costs) // processes)
            whole = Group(algorithm, state, rounds, draws)
            return join(play_in_processes(split(whole, size)), size)
        return play_rounds(algorithm, state, *rounds, draws)


def needs_torch(algorithm: Algorithm) -> bool:
    """True if its predictor, or that of one of its learners, is a torch module."""
    predictors = [one.problem.predictor for one in (algorithm, *algorithm.learners)]
    return any(getattr(predictor, "needs_torch", False) for predictor in predictors)
