"""The fast engine: a whole block of rounds in one call of a compiled kernel; the choice of an engine."""

import logging
from collections.abc import Callable
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from odfl_cli.algorithms import Algorithm
from odfl_cli.core.cores import on_threads
from odfl_cli.core.errors import RoundError, UserError
from odfl_cli.core.kernel_cache import load_kernel
from odfl_cli.core.settings import PositiveInt, settings
from odfl_cli.engine.base import NO_ROUNDS, Engine, Play, Trace
from odfl_cli.engine.parts import KERNELS, fits_lanes, kernel_of
from odfl_cli.engine.torch_engine import Dtype, TorchEngine
from odfl_cli.environments import Rounds

IN_LANES = ("df_ogd",)
"""The kernels that exist a second time, for several seeds at once."""


def missing_kernel(algorithm: Algorithm) -> str | None:
    """The first of data, algorithm, its learners, problem's parts and κ that has no kernel, or None."""
    if beyond := algorithm.problem.beyond_kernels:
        return beyond
    if kernel_of(algorithm) is None:
        return f"algo {type(algorithm).__name__}"
    for learner in algorithm.learners:
        if missing := missing_kernel(learner):
            return missing
    for name, kernels in KERNELS.items():
        part = getattr(algorithm.problem, name)
        if kernel_of(part) not in kernels:
            return f"{name} {type(part).__name__}"
    problem: Any = algorithm.problem
    if problem.polytope.packed is None:
        return f"polytope {type(problem.polytope).__name__}, whose vertices are not listed"
    if problem.regularizer.packed is None:
        return f"regularizer {type(problem.regularizer).__name__} on polytope {type(problem.polytope).__name__}"
    if problem.kappa > 0 and algorithm.learners:
        return f"kappa={problem.kappa:g} with algo {type(algorithm).__name__}"
    return None


@settings
class CompiledEngine:
    """Runs seeds in parallel on `threads` cores; a seed's numbers do not depend on how many."""

    threads: PositiveInt | None = None
    name: ClassVar[str] = "compiled"

    def choose(self, algorithm: Algorithm) -> "CompiledEngine":
        """Itself, or a UserError that names the part without a kernel."""
        if missing := missing_kernel(algorithm):
            raise UserError(f"engine=compiled: {missing} has no kernel; use engine=torch or auto")
        return self

    def start(self, algorithm: Algorithm) -> None:
        """Compiles the kernels, or loads them from disk."""
        kernel_module(algorithm)
        for learner in algorithm.learners:
            self.start(learner)

    def advance(
        self,
        algorithm: Algorithm,
        state: Any,
        rounds: Rounds,
        draws: dict[str, np.ndarray],
        asked: np.ndarray = NO_ROUNDS,
    ) -> tuple[Any, Trace]:
        """One kernel call per seed, or for some at once; the kernels release the interpreter's lock."""
        seeds, length = rounds.costs.shape[:2]
        trace = Trace.blank(algorithm, seeds, length, asked)
        state, play = kernel_module(algorithm).prepare(algorithm, state, rounds, draws, trace)
        calls = -(-seeds // seeds_of(algorithm, seeds))
        failures = [
            failure for failure in on_threads(attempt(play), calls, self.threads) if failure
        ]
        if failures:
            raise first_of(failures)
        return state, trace


def kernel_module(algorithm: Algorithm) -> ModuleType:
    """The module in odfl_cli.engine.kernels that plays the algorithm.

    The one that plays several seeds at once where there is one for these parts, whatever the number
    of seeds: a seed's numbers would depend on it otherwise.
    """
    in_lanes = algorithm.kernel in IN_LANES and fits_lanes(algorithm.problem)
    name = f"{algorithm.kernel}_lanes" if in_lanes else algorithm.kernel
    return load_kernel(f"odfl_cli.engine.kernels.{name}")


def seeds_of(algorithm: Algorithm, seeds: int) -> int:
    """How many of the seeds one call of its kernel plays: one unless the module says otherwise."""
    at_once = getattr(kernel_module(algorithm), "seeds_at_once", None)
    return at_once(algorithm, seeds) if at_once else 1


def first_of(failures: list[RoundError]) -> RoundError:
    """The one in the earliest round, of the first seed."""
    return min(failures, key=lambda failure: (failure.round_index, failure.seed_index))


def attempt(play: Play) -> Callable[[int], RoundError | None]:
    """Makes a call and returns its RoundError, if any; numbers that overflow are found in the trace."""

    def attempted(call: int) -> RoundError | None:
        with np.errstate(all="ignore"):
            try:
                play(call)
            except RoundError as failure:
                return failure
        return None

    return attempted


log = logging.getLogger("odfl")


@settings
class Auto:
    """The fastest engine that can run the job."""

    threads: PositiveInt | None = None
    device: str = "cpu"
    dtype: Dtype = "float64"
    seeds_at_once: PositiveInt | None = None

    def choose(self, algorithm: Algorithm) -> Engine:
        """CompiledEngine unless something lacks a kernel or other tensors are asked for."""
        missing = missing_kernel(algorithm)
        reason = f"{missing} has no kernel" if missing else ""
        if (self.device, self.dtype) != ("cpu", "float64"):
            reason = f"{self.dtype} on {self.device}"
        if not reason:
            return CompiledEngine(threads=self.threads)
        if self.threads:
            log.info("engine.threads=%d is not used: %s, so torch runs it", self.threads, reason)
        return TorchEngine(
            device=self.device, dtype=self.dtype, seeds_at_once=self.seeds_at_once
        ).choose(algorithm)
