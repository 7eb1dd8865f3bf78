"""How a block of rounds is executed."""

from odfl_cli.engine.array_engine import ArrayEngine
from odfl_cli.engine.auto import Auto
from odfl_cli.engine.base import Engine, EngineChoice, Trace
from odfl_cli.engine.compiled_engine import CompiledEngine
from odfl_cli.engine.torch_engine import TorchEngine
