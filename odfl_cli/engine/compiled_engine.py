"""The fast engine: a whole block of rounds in one compiled kernel, seed by seed."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import numpy as np

from odfl_cli.algorithms import (
    DFFTPL,
    DFOGD,
    PFOGD,
    SPO,
    Algorithm,
    Clairvoyant,
    SPOPrinted,
    Uniform,
)
from odfl_cli.cores import allotted_threads
from odfl_cli.engine.base import Trace
from odfl_cli.environments import Rounds
from odfl_cli.errors import UserError
from odfl_cli.kernel_cache import load_kernel
from odfl_cli.oracles import SGD
from odfl_cli.polytopes import Simplex
from odfl_cli.predictors import Linear
from odfl_cli.regularizers import Entropy
from odfl_cli.settings import PositiveInt, settings
from odfl_cli.solver import Solver

KERNELS: dict[type, str] = {
    DFOGD: "df_ogd",
    DFFTPL: "df_ftpl",
    PFOGD: "pf_ogd",
    SPO: "spo",
    SPOPrinted: "spo_printed",
    Uniform: "uniform",
    Clairvoyant: "clairvoyant",
}
"""Algorithm → module in odfl_cli.engine.kernels. A subclass may differ, so types match exactly."""

PARTS: dict[str, type] = {
    "predictor": Linear,
    "polytope": Simplex,
    "regularizer": Entropy,
    "oracle": SGD,
}


def missing_kernel(algorithm: Algorithm) -> str | None:
    """What keeps the algorithm from being compiled, if anything does."""
    if type(algorithm) not in KERNELS:
        return f"algo {type(algorithm).__name__}"
    for part, kind in PARTS.items():
        chosen = type(getattr(algorithm.problem, part))
        if chosen is not kind:
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
        trace = Trace.empty(algorithm, seeds, length)
        state, play = kernel.prepare(algorithm, state, rounds, draws, trace)
        with ThreadPoolExecutor(self.threads or allotted_threads()) as pool:
            for _ in pool.map(play, range(seeds)):
                pass  # takes up an exception, if one was raised
        return state, trace
