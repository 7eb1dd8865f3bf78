"""Approximate minimisers over Θ (Definition 1)."""

from typing import TYPE_CHECKING

from odfl_cli.core.lazy import exports

if TYPE_CHECKING:
    from odfl_cli.problem.oracles.base import Oracle, OracleCall, uniform_in_ball
    from odfl_cli.problem.oracles.descent import SGD, Adam, MultiStart
    from odfl_cli.problem.oracles.exact import Exact
    from odfl_cli.problem.oracles.lbfgs import LBFGS
else:
    __getattr__ = exports(__name__, __file__)
