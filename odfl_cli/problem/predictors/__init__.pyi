from odfl_cli.problem.predictors.base import Predictor
from odfl_cli.problem.predictors.linear import Affine, Linear, PerItem
from odfl_cli.problem.predictors.mlp import MLP
from odfl_cli.problem.predictors.quadratic import Quadratic

__all__ = ["MLP", "Affine", "Linear", "PerItem", "Predictor", "Quadratic"]
