"""g(θ, X): what turns features into predicted costs."""

from odfl_cli.core.lazy import exports

__getattr__ = exports(__name__, __file__)
