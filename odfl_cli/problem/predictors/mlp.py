"""A small network, the same for every item."""

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from odfl_cli.core.settings import Positive, PositiveInt, settings
from odfl_cli.core.streams import Draw, draw

if TYPE_CHECKING:  # algo=vote imports this file whether or not an expert is a network
    import torch

    from odfl_cli.problem.predictors.module import ModulePredictor

INITIAL = "predictor/mlp"


@settings
class MLP:
    """`depth` layers from p features to one cost, `width` units in each but the last.

    θ is relative to a fixed starting point: random hidden layers, the same for every seed, and a
    last layer of zeros. Hence θ = 0 predicts zero costs and has a gradient, and Θ is a ball around the
    starting point. One layer without bias is the linear predictor. The file `weights` replaces the
    starting point, and `radius` is that of Θ (empty: theta_radius).
    """

    depth: Annotated[PositiveInt, Field(le=100)] = 2
    width: Annotated[PositiveInt, Field(le=10_000)] = 16
    bias: bool = True
    activation: Literal["tanh", "relu"] = "tanh"
    weights: str | None = None
    radius: Positive | None = None

    def prepared(self, items: int, shape: tuple[int, ...]) -> "ModulePredictor":
        """The predictor for X of that shape; the last axis is the features."""
        from odfl_cli.problem.predictors.torch_module import TorchModule

        network = self.network(shape[-1])
        part = TorchModule(module=network, weights=self.weights, radius=self.radius)
        return part.prepared(items, shape, "predictor=mlp")

    def network(self, features: int) -> "torch.nn.Sequential":
        """The network at θ = 0: normal weights of variance 1/inputs, zero biases and last layer."""
        import torch

        activation = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}[self.activation]
        sizes = features, *[self.width] * (self.depth - 1), 1
        layers: list[torch.nn.Module] = []
        for number, (inputs, outputs) in enumerate(pairwise(sizes)):
            layer = torch.nn.Linear(inputs, outputs, self.bias, dtype=torch.float64)
            for parameter in layer.parameters():
                torch.nn.init.zeros_(parameter)
            if number < self.depth - 1:
                spec = Draw("normal", (outputs, inputs))
                normals = draw((0,), f"{INITIAL}/{number}", spec)[0, 0]
                layer.weight.data += torch.from_numpy(normals / math.sqrt(inputs))
            layers += [layer, activation()]
        return torch.nn.Sequential(*layers[:-1])
