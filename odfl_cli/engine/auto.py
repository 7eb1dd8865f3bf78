"""The automatic choice of an engine."""

import logging

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.core.settings import PositiveInt, settings
from odfl_cli.engine.array_engine import ArrayEngine, needs_torch
from odfl_cli.engine.base import Engine
from odfl_cli.engine.compiled_engine import CompiledEngine
from odfl_cli.engine.kernels import missing_kernel
from odfl_cli.engine.mixture_engine import mixture_engine
from odfl_cli.engine.torch_engine import Dtype, TorchEngine

log = logging.getLogger("odfl")


@settings
class Auto:
    """The compiled engine if there are kernels, torch if it is needed, else numpy arrays."""

    threads: PositiveInt | None = None
    device: str = "cpu"
    dtype: Dtype = "float64"
    seeds_at_once: PositiveInt | None = None

    def choose(self, algorithm: Algorithm) -> Engine:
        """The fastest engine for the algorithm; the learners of a mixture have their own."""
        if mixture := mixture_engine(algorithm, self):
            return mixture
        if needs_torch(algorithm) or (self.device, self.dtype) != ("cpu", "float64"):
            torch = TorchEngine(
                device=self.device, dtype=self.dtype, seeds_at_once=self.seeds_at_once
            )
            return torch.choose(algorithm)
        missing = missing_kernel(algorithm)
        if missing is None:
            return CompiledEngine(threads=self.threads)
        if self.threads:
            log.info("engine.threads=%d is not used: %s has no kernel", self.threads, missing)
        return ArrayEngine()
