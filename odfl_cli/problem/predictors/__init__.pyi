from odfl_cli.problem.predictors.affine import Affine
from odfl_cli.problem.predictors.base import Predictor
from odfl_cli.problem.predictors.linear import Linear
from odfl_cli.problem.predictors.mlp import MLP
from odfl_cli.problem.predictors.per_item import PerItem

__all__ = ["MLP", "Affine", "Linear", "PerItem", "Predictor"]
