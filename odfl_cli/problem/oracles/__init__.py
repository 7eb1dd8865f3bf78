"""Approximate minimisers over Θ (Definition 1)."""

from odfl_cli.core.lazy import exports

__getattr__ = exports(__name__, __file__)
