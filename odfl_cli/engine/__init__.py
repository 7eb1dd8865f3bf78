"""How a block of rounds is executed."""

from odfl_cli.engine.base import Engine, Trace

__all__ = ["Engine", "Trace"]
