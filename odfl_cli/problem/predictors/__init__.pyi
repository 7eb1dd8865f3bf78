from odfl_cli.problem.predictors.base import Predictor, prepared
from odfl_cli.problem.predictors.conv import Conv
from odfl_cli.problem.predictors.linear import Affine, Linear, PerItem
from odfl_cli.problem.predictors.mlp import MLP
from odfl_cli.problem.predictors.quadratic import Quadratic
from odfl_cli.problem.predictors.torch_module import TorchModule

__all__ = [
    "MLP",
    "Affine",
    "Conv",
    "Linear",
    "PerItem",
    "Predictor",
    "Quadratic",
    "TorchModule",
    "prepared",
]
