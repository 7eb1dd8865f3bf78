"""The fast engine: a whole block of rounds of the paper's problem in one call of a compiled kernel."""

from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.core.cores import on_threads
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import PositiveInt, settings
from odfl_cli.engine.base import Draws, Engine, Trace
from odfl_cli.engine.kernels import missing_kernel
from odfl_cli.engine.mixture_engine import mixture_engine
from odfl_cli.environments.base import Rounds


@settings
class CompiledEngine(Engine):
    """Runs seeds in parallel on `threads` cores; a seed's numbers do not depend on how many."""

    threads: PositiveInt | None = None
    name: ClassVar[str] = "compiled"

    def choose(self, algorithm: Algorithm) -> Engine:
        """Itself; raises a UserError that names a part without a kernel."""
        if mixture := mixture_engine(algorithm, self):
            return mixture
        if missing := missing_kernel(algorithm):
            raise UserError(f"engine=compiled: {missing} has no kernel; use engine=array or auto")
        return self

    def start(self, algorithm: Algorithm) -> None:
        kernel_module(algorithm)

    def play(self, algorithm: Any, state: Any, rounds: Rounds, draws: Draws) -> tuple[Any, Trace]:
        seeds, length = rounds.costs.shape[:2]
        trace = Trace.blank(algorithm, seeds, length)
        prepare = kernel_module(algorithm).prepare
        state, play = prepare(algorithm, state, rounds, draws, trace)
        on_threads(play, seeds, self.threads)
        return state, trace


def kernel_module(algorithm: Algorithm) -> ModuleType:
    """The module in odfl_cli.engine.kernels that plays the algorithm."""
    return import_module(f"odfl_cli.engine.kernels.{algorithm.kernel}")
