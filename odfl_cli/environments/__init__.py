"""Who draws X_t and c_t."""

from odfl_cli.core.lazy import exports

__getattr__ = exports(__name__, __file__)
