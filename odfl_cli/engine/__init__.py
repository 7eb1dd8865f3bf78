"""How a block of rounds is executed."""

from odfl_cli.core.lazy import exports

__getattr__ = exports(__name__, __file__)
