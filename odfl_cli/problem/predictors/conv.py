"""A small convolutional network that reads the costs of a grid's edges off a picture."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import Positive, PositiveInt, settings

# algo=vote offers the network to its experts: whoever does not take it needs no torch.
if TYPE_CHECKING:
    from odfl_cli.problem.predictors.module import ModulePredictor


@settings
class Conv:
    """`EdgeNet` as a predictor; every seed starts from weights of its own, as torch draws them.

    Without an activation it is linear in the pixels.
    """

    channels: Annotated[PositiveInt, Field(le=1000)] = 8
    layers: Annotated[PositiveInt, Field(le=20)] = 1
    pixels: Annotated[PositiveInt, Field(le=100)] = 3
    activation: Literal["relu", "tanh", "none"] = "relu"
    weights: str | None = None
    radius: Positive | None = None

    def prepared(self, items: int, shape: tuple[int, ...]) -> "ModulePredictor":
        nodes = [1 + (length - 1) // self.pixels for length in shape]
        fits = [1 + (count - 1) * self.pixels for count in nodes] == list(shape)
        if len(shape) != 2 or not fits or 2 * nodes[0] * nodes[1] - sum(nodes) != items:
            raise UserError(
                f"predictor=conv: {items} edges are not those of a grid with a node every "
                f"{self.pixels} pixels of {list(shape)}; choose data=terrain, "
                "and predictor.pixels as data.pixels"
            )
        from odfl_cli.problem.predictors.edge_net import EdgeNet
        from odfl_cli.problem.predictors.torch_module import TorchModule

        net = partial(EdgeNet, self.channels, self.layers, self.pixels, self.activation)
        part = TorchModule(module=net, weights=self.weights, radius=self.radius)
        return part.prepared(items, shape, "predictor=conv")
