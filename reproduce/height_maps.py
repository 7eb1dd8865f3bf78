"""Paths on height maps: an example of a user's environment and torch module, named in `reproduce/conf`."""

from functools import cache
from typing import Annotated, ClassVar

import numpy as np
import torch
from pydantic import Field
from torch import nn
from torch.nn.functional import avg_pool2d

from odfl_cli.core.settings import Integer, NonNegative, Positive, PositiveInt, Real, settings
from odfl_cli.core.streams import Draw, draw
from odfl_cli.environments.base import Rounds

ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh, "none": nn.Identity}
Nodes = Annotated[Integer, Field(ge=2, le=100)]


@settings
class Terrain:
    """A new map in every round: X_t [height, width], with a node of the grid every `pixels` pixels.

    Heights are white noise, smoothed by a Gaussian of deviation `smooth` pixels and scaled to
    variance 1. Crossing an edge costs

        c = (1 + steep · mean (Δh)² + water · mean 1/(1 + exp((h − level)/shore))) · ε

    over its pixels and the steps between them, with ε ~ U[1 − noise_width, 1 + noise_width]. Edges
    are in the order of `polytope=shortest_path`. Rounds are independent with one law for all seeds.
    """

    rows: Nodes = 5
    columns: Nodes = 5
    pixels: Annotated[PositiveInt, Field(le=100)] = 3
    smooth: Annotated[Positive, Field(le=100)] = 1.2
    steep: NonNegative = 4.0
    water: NonNegative = 3.0
    level: Real = -0.5
    shore: Positive = 0.1
    noise_width: Annotated[Real, Field(ge=0, lt=1)] = 0.2
    stationary: ClassVar[bool] = True
    by_rows: ClassVar[bool] = False

    @property
    def items(self) -> int:
        return self.rows * (self.columns - 1) + self.columns * (self.rows - 1)

    @property
    def features(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        return (self.rows - 1) * self.pixels + 1, (self.columns - 1) * self.pixels + 1

    def theta_star(self, seeds: tuple[int, ...], t: int = 0) -> np.ndarray | None:
        return None

    def rounds(self, seeds: tuple[int, ...], start: int, stop: int) -> Rounds:
        X = self._maps(seeds, "data/heights", start, stop)
        uniform = draw(seeds, "data/noise", Draw("uniform", (self.items,)), start, stop)
        return Rounds(X, self.costs(X) * (1.0 + self.noise_width * (2.0 * uniform - 1.0)))

    def fresh(self, seeds: tuple[int, ...], t: int, size: int) -> Rounds:
        """Other maps of the same law, with costs without noise."""
        X = self._maps(seeds, "data/fresh_heights", 0, size)
        return Rounds(X, self.costs(X))

    def expected_costs(self, seeds: tuple[int, ...], start: int, X: np.ndarray) -> np.ndarray:
        return self.costs(X)

    def costs(self, X: np.ndarray) -> np.ndarray:
        """E[c | X], [..., d], for maps [..., height, width]."""
        q = self.pixels
        across, along = X[..., ::q, :], X[..., ::q].swapaxes(-1, -2)
        right, down = self._crossing(across), self._crossing(along).swapaxes(-1, -2)
        rows = np.concatenate([right[..., :-1, :], down], axis=-1)
        return np.concatenate([rows.reshape(*X.shape[:-2], -1), right[..., -1, :]], axis=-1)

    def _crossing(self, lines: np.ndarray) -> np.ndarray:
        """The costs of the edges of lines of nodes [..., lines, pixels], [..., lines, edges]."""
        q = self.pixels
        windows = np.lib.stride_tricks.sliding_window_view(lines, q + 1, axis=-1)[..., ::q, :]
        steepness = (np.diff(windows, axis=-1) ** 2).mean(-1)
        wet = 1.0 / (1.0 + np.exp((windows - self.level) / self.shore))
        return 1.0 + self.steep * steepness + self.water * wet.mean(-1)

    def _maps(self, seeds: tuple[int, ...], name: str, start: int, stop: int) -> np.ndarray:
        """Heights, [S, stop − start, height, width]."""
        vertical, horizontal = (smoothing(length, self.smooth) for length in self.shape)
        shape = vertical.shape[1], horizontal.shape[1]
        noise = draw(seeds, name, Draw("normal", shape), start, stop)
        return vertical @ noise @ horizontal.T


@cache
def smoothing(length: int, deviation: float) -> np.ndarray:
    """Rows of length 1: Gaussian weights up to three deviations away, [length, length + twice that]."""
    reach = int(np.ceil(3 * deviation))
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / deviation) ** 2)
    weights /= np.sqrt((weights**2).sum())
    matrix = np.zeros((length, length + 2 * reach))
    for row in range(length):
        matrix[row, row : row + 2 * reach + 1] = weights
    return matrix


class EdgeNet(nn.Module):
    """Convolutions, then for every edge the mean over its pixels, and a linear map of that.

    Edges to the right and edges down have weights of their own. The picture [height, width] has a
    node of the grid every `pixels` pixels; edges are in the order of `polytope=shortest_path`.
    """

    def __init__(
        self, channels: int = 8, layers: int = 1, pixels: int = 3, activation: str = "relu"
    ) -> None:
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
