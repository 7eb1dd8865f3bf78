"""g(θ, X): predicted costs from features."""

from odfl_cli.problem.predictors.base import Predictor, prepared
from odfl_cli.problem.predictors.conv import Conv
from odfl_cli.problem.predictors.linear import Affine, Linear, PerItem
from odfl_cli.problem.predictors.mlp import MLP
from odfl_cli.problem.predictors.quadratic import Quadratic
