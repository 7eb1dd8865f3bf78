"""g(θ, X): predicted costs from features."""

from odfl_cli.core.lazy import exports

__getattr__ = exports(__name__, __file__)
