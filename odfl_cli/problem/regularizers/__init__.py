"""R(w): what smooths the inner linear program."""

from odfl_cli.core.lazy import exports

__getattr__ = exports(__name__, __file__)
