"""The fast engine: a whole block of rounds in one compiled kernel, seed by seed."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, ClassVar

import numpy as np

from odfl_cli.algorithms import (
    DFFTPL,
    DFOGD,
    PFOGD,
    SPO,
    Algorithm,
    Clairvoyant,
    DFMoments,
    SPOPrinted,
    Uniform,
)
from odfl_cli.core.cores import allotted_threads
from odfl_cli.core.errors import RoundError, UserError
from odfl_cli.core.kernel_cache import load_kernel
from odfl_cli.core.settings import PositiveInt, settings
from odfl_cli.engine.base import Play, Trace
from odfl_cli.engine.parts import POLYTOPES, PREDICTORS, REGULARIZERS
from odfl_cli.environments import Rounds
from odfl_cli.problem.oracles import SGD
from odfl_cli.problem.solver import Solver

KERNELS: dict[type, str] = {
    DFOGD: "df_ogd",
    DFFTPL: "df_ftpl",
    DFMoments: "df_moments",
    PFOGD: "pf_ogd",
    SPO: "spo",
    SPOPrinted: "spo_printed",
    Uniform: "uniform",
    Clairvoyant: "clairvoyant",
}
"""Algorithm → module in odfl_cli.engine.kernels. A subclass may differ, so types match exactly."""

PARTS: dict[str, Iterable[type]] = {
    "predictor": PREDICTORS,
    "polytope": POLYTOPES,
    "regularizer": REGULARIZERS,
    "oracle": (SGD,),
}


def missing_kernel(algorithm: Algorithm) -> str | None:
    """What keeps the algorithm from being compiled, if anything does."""
    if type(algorithm) not in KERNELS:
        return f"algo {type(algorithm).__name__}"
    for part, kinds in PARTS.items():
        chosen = type(getattr(algorithm.problem, part))
        if chosen not in kinds:
            return f"{part} {chosen.__name__}"
    solver = algorithm.problem.solver
    if type(solver) is not Solver:
        return f"solver {type(solver).__name__}"
    if solver.kappa > 0:
        return f"solver.kappa={solver.kappa:g}"
    return None


@settings
class CompiledEngine:
    """Runs seeds side by side on `threads` cores; a seed's numbers do not depend on how many."""

    threads: PositiveInt | None = None
    name: ClassVar[str] = "compiled"

    def choose(self, algorithm: Algorithm) -> "CompiledEngine":
        """Itself, or a refusal that names the part without a kernel."""
        if missing := missing_kernel(algorithm):
            raise UserError(f"engine=compiled: {missing} has no kernel; use engine=torch or auto")
        return self

    def start(self, algorithm: Algorithm) -> None:
        """Compiles the kernel, or finds it compiled on disk."""
        load_kernel(f"odfl_cli.engine.kernels.{KERNELS[type(algorithm)]}")

    def advance(
        self, algorithm: Algorithm, state: Any, rounds: Rounds, draws: dict[str, np.ndarray]
    ) -> tuple[Any, Trace]:
        """One kernel call per seed; the kernels release the interpreter's lock."""
        kernel = load_kernel(f"odfl_cli.engine.kernels.{KERNELS[type(algorithm)]}")
        seeds, length = rounds.costs.shape[:2]
        trace = Trace.blank(algorithm, seeds, length)
        state, play = kernel.prepare(algorithm, state, rounds, draws, trace)
        pool = thread_pool(self.threads or allotted_threads())
        failures = [failure for failure in pool.map(attempt(play), range(seeds)) if failure]
        if failures:
            raise min(failures, key=lambda failure: (failure.round_index, failure.seed_index))
        return state, trace


def attempt(play: Play) -> Callable[[int], RoundError | None]:
    """Plays a seed and returns what stopped it; numbers that overflow are found in the trace."""

    def attempted(s: int) -> RoundError | None:
        with np.errstate(all="ignore"):
            try:
                play(s)
            except RoundError as failure:
                return failure
        return None

    return attempted


@cache
def thread_pool(threads: int) -> ThreadPoolExecutor:
    """One for all blocks and jobs of the process."""
    return ThreadPoolExecutor(threads)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=thread_pool.cache_clear)  # a fork takes no threads along
