from odfl_cli.problem.oracles.adam import Adam
from odfl_cli.problem.oracles.base import LazyOracle, Objective, Oracle
from odfl_cli.problem.oracles.exact import Exact
from odfl_cli.problem.oracles.lbfgs import LBFGS
from odfl_cli.problem.oracles.multistart import MultiStart
from odfl_cli.problem.oracles.sgd import SGD
from odfl_cli.problem.oracles.starting_points import uniform_in_ball

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
