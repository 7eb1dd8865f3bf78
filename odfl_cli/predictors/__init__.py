"""g(θ, X): what turns features into predicted costs."""

from odfl_cli.predictors.base import Predictor
from odfl_cli.predictors.linear import Linear

__all__ = ["Linear", "Predictor"]
