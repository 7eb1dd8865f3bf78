"""Compiled where there is a kernel, torch everywhere else."""

import logging

from odfl_cli.algorithms import Algorithm
from odfl_cli.core.settings import PositiveInt, settings
from odfl_cli.engine.base import Engine
from odfl_cli.engine.compiled_engine import CompiledEngine, missing_kernel
from odfl_cli.engine.torch_engine import TorchEngine

log = logging.getLogger("odfl")


@settings
class Auto:
    """The fastest engine that can run the job."""

    threads: PositiveInt | None = None
    device: str = "cpu"

    def choose(self, algorithm: Algorithm) -> Engine:
        """CompiledEngine unless something lacks a kernel or another device is asked for."""
        if self.device == "cpu" and not (missing := missing_kernel(algorithm)):
            return CompiledEngine(threads=self.threads)
        if self.threads:
            reason = f"{missing} has no kernel" if self.device == "cpu" else f"device {self.device}"
            log.info("engine.threads=%d is not used: %s, so torch runs it", self.threads, reason)
        return TorchEngine(device=self.device).choose(algorithm)
