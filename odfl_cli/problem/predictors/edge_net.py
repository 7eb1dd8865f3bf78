"""A convolutional network that reads the costs of a grid's edges off a picture."""

import torch
from torch import nn
from torch.nn.functional import avg_pool2d

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
