"""Approximate minimisers over Θ (Definition 1)."""

from odfl_cli.oracles.adam import Adam
from odfl_cli.oracles.base import LazyOracle, Objective, Oracle
from odfl_cli.oracles.candidates import uniform_in_ball
from odfl_cli.oracles.exact import Exact
from odfl_cli.oracles.lbfgs import LBFGS
from odfl_cli.oracles.multistart import MultiStart
from odfl_cli.oracles.sgd import SGD

__all__ = [
    "LBFGS",
    "SGD",
    "Adam",
    "Exact",
    "LazyOracle",
    "MultiStart",
    "Objective",
    "Oracle",
    "uniform_in_ball",
]
