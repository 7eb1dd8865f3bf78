"""Approximate minimisers over Θ (Definition 1)."""

from odfl_cli.oracles.base import Objective, Oracle
from odfl_cli.oracles.sgd import SGD

__all__ = ["SGD", "Objective", "Oracle"]
