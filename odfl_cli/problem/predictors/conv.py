"""A small convolutional network that reads the costs of a grid's edges off a picture."""

from functools import partial
from typing import Annotated, Literal

import torch
from pydantic import Field
from torch import nn
from torch.nn.functional import avg_pool2d

from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import Positive, PositiveInt, settings
from odfl_cli.problem.predictors.module import ModulePredictor
from odfl_cli.problem.predictors.torch_module import TorchModule

ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh, "none": nn.Identity}


class EdgeNet(nn.Module):
    """Convolutions, then for every edge the mean over its pixels, and a linear map of that.

    Edges to the right and edges down have weights of their own. The picture [height, width] has a
    node of the grid every `pixels` pixels; edges are in the order of `polytope=shortest_path`.
    """

    def __init__(self, channels: int, layers: int, pixels: int, activation: str) -> None:
        super().__init__()
        inputs, body = 1, []
        for _ in range(layers):
            body += [nn.Conv2d(inputs, channels, 3, padding=1), ACTIVATIONS[activation]()]
            inputs = channels
        self.body, self.pixels = nn.Sequential(*body), pixels
        self.right, self.down = nn.Linear(channels, 1), nn.Linear(channels, 1)

    def forward(self, picture: torch.Tensor) -> torch.Tensor:
        """The costs [d] of a picture [height, width]."""
        q, seen = self.pixels, self.body(picture[None])
        across = avg_pool2d(seen[:, ::q], (1, q + 1), (1, q)).movedim(0, -1)
        along = avg_pool2d(seen[..., ::q], (q + 1, 1), (q, 1)).movedim(0, -1)
        right, down = self.right(across)[..., 0], self.down(along)[..., 0]
        return torch.cat([torch.cat([right[:-1], down], dim=1).reshape(-1), right[-1]])


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

    def prepared(self, items: int, shape: tuple[int, ...]) -> ModulePredictor:
        """The predictor for pictures of that shape."""
        nodes = [1 + (length - 1) // self.pixels for length in shape]
        fits = [1 + (count - 1) * self.pixels for count in nodes] == list(shape)
        if len(shape) != 2 or not fits or 2 * nodes[0] * nodes[1] - sum(nodes) != items:
            raise UserError(
                f"predictor=conv: {items} edges are not those of a grid with a node every "
                f"{self.pixels} pixels of {list(shape)}; choose data=terrain, or predictor.pixels"
            )
        net = partial(EdgeNet, self.channels, self.layers, self.pixels, self.activation)
        part = TorchModule(module=net, weights=self.weights, radius=self.radius)
        return part.prepared(items, shape)
