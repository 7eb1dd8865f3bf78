"""g(θ, X): predicted costs from features."""

from typing import TYPE_CHECKING

from odfl_cli.core.lazy import exports

if TYPE_CHECKING:
    from odfl_cli.problem.predictors.base import Predictor, prepared
    from odfl_cli.problem.predictors.conv import Conv
    from odfl_cli.problem.predictors.linear import Affine, Linear, PerItem
    from odfl_cli.problem.predictors.mlp import MLP
    from odfl_cli.problem.predictors.quadratic import Quadratic
    from odfl_cli.problem.predictors.torch_module import TorchModule
else:
    __getattr__ = exports(__name__, __file__)
