from odfl_cli.problem.oracles.base import Objective, Oracle, OracleCall, uniform_in_ball
from odfl_cli.problem.oracles.descent import SGD, Adam
from odfl_cli.problem.oracles.exact import Exact
from odfl_cli.problem.oracles.lbfgs import LBFGS
from odfl_cli.problem.oracles.multistart import MultiStart

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
