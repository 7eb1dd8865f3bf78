"""Compiled where there is a kernel, torch everywhere else."""

from odfl_cli.algorithms import Algorithm
from odfl_cli.engine.base import Engine
from odfl_cli.engine.compiled_engine import CompiledEngine, missing_kernel
from odfl_cli.engine.torch_engine import TorchEngine
from odfl_cli.settings import PositiveInt, settings


@settings
class Auto:
    """The fastest engine that can run the job."""

    threads: PositiveInt | None = None
    device: str = "cpu"

    def choose(self, algorithm: Algorithm) -> Engine:
        """CompiledEngine unless something lacks a kernel or another device is asked for."""
        if self.device != "cpu" or missing_kernel(algorithm):
            return TorchEngine(device=self.device)
        return CompiledEngine(threads=self.threads)
