from odfl_cli.engine.base import Engine, EngineChoice, Trace
from odfl_cli.engine.compiled_engine import Auto, CompiledEngine
from odfl_cli.engine.torch_engine import TorchEngine

__all__ = ["Auto", "CompiledEngine", "Engine", "EngineChoice", "TorchEngine", "Trace"]
