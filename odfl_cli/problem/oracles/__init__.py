"""Approximate minimisers over Θ (Definition 1)."""

from odfl_cli.problem.oracles.base import Oracle, OracleCall, uniform_in_ball
from odfl_cli.problem.oracles.descent import SGD, Adam, MultiStart
from odfl_cli.problem.oracles.exact import Exact
from odfl_cli.problem.oracles.lbfgs import LBFGS
