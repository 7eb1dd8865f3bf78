"""g(θ, X): what turns features into predicted costs."""

from odfl_cli.predictors.base import Predictor
from odfl_cli.predictors.linear import Linear
from odfl_cli.predictors.mlp import MLP

__all__ = ["MLP", "Linear", "Predictor"]
