from odfl_cli.problem.oracles.base import Objective, Oracle, OracleCall, uniform_in_ball
from odfl_cli.problem.oracles.descent import SGD, Adam, MultiStart
from odfl_cli.problem.oracles.exact import Exact
from odfl_cli.problem.oracles.lbfgs import LBFGS

__all__ = [
    "LBFGS",
    "SGD",
    "Adam",
    "Exact",
    "MultiStart",
    "Objective",
    "Oracle",
    "OracleCall",
    "uniform_in_ball",
]
