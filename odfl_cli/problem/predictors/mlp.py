"""A small network, the same for every item, with its gradient written out."""

import math
from functools import lru_cache
from itertools import pairwise
from typing import Literal

import numpy as np

from odfl_cli.core.arrays import Array, array_namespace, dot
from odfl_cli.core.settings import PositiveInt, settings
from odfl_cli.core.streams import Draw, draw

INITIAL = "predictor/mlp"


@settings
class MLP:
    """`depth` layers from p features to one cost, `width` units in each but the last.

    θ is relative to a fixed starting point: random hidden layers, the same for every seed, and a
    last layer of zeros. So θ = 0 predicts zero costs and has a gradient, and Θ is a ball around the
    starting point. One layer without bias is the linear predictor.
    """

    depth: PositiveInt = 2
    width: PositiveInt = 16
    bias: bool = True
    activation: Literal["tanh", "relu"] = "tanh"

    def parameter_count(self, items: int, features: int) -> int:
        """m, all weights and biases."""
        return sum(
            outputs * (inputs + self.bias) for inputs, outputs in pairwise(self.sizes(features))
        )

    def predict(self, theta: Array, X: Array) -> Array:
        """The network's output for every item."""
        hidden, (weights, bias) = self._forward(theta, X)
        return _affine(hidden[-1], weights, bias)[..., 0]

    def vjp(self, theta: Array, X: Array, v: Array) -> Array:
        """Backpropagation of v, layer by layer from the last."""
        xp = array_namespace(X)
        hidden, _ = self._forward(theta, X)
        parts: list[Array] = []
        flowing = v[..., None]
        for (weights, _), inputs in zip(self._layers(theta, X)[::-1], hidden[::-1], strict=True):
            if self.bias:
                parts.append(flowing.sum(-2))
            slopes = (flowing[..., None] * inputs[..., None, :]).sum(-3)
            parts.append(slopes.reshape(*slopes.shape[:-2], -1))
            flowing = (flowing[..., None] * weights[..., None, :, :]).sum(-2) * self._slope(inputs)
        lead = np.broadcast_shapes(*(tuple(part.shape[:-1]) for part in parts))
        return xp.concat(
            [xp.broadcast_to(part, (*lead, part.shape[-1])) for part in parts[::-1]], axis=-1
        )

    def sizes(self, features: int) -> tuple[int, ...]:
        """Units of every layer, the features first."""
        return features, *[self.width] * (self.depth - 1), 1

    def _forward(self, theta: Array, X: Array) -> tuple[list[Array], tuple[Array, Array]]:
        """The inputs of every layer, and the parameters of the last."""
        xp = array_namespace(X)
        *layers, last = self._layers(theta, X)
        hidden = [X]
        for weights, bias in layers:
            signal = _affine(hidden[-1], weights, bias)
            hidden.append(xp.tanh(signal) if self.activation == "tanh" else xp.clip(signal, min=0))
        return hidden, last

    def _slope(self, output: Array) -> Array:
        """The activation's derivative, from its output."""
        if self.activation == "tanh":
            return 1.0 - output * output
        return array_namespace(output).astype(output > 0, output.dtype)

    def _layers(self, theta: Array, X: Array) -> list[tuple[Array, Array]]:
        """Weights [..., outputs, inputs] and bias [..., outputs] of every layer."""
        xp = array_namespace(X)
        sizes = self.sizes(X.shape[-1])
        origin = start(sizes, self.bias)
        theta = theta + xp.asarray(origin, dtype=theta.dtype, device=theta.device)
        layers, taken = [], 0
        for inputs, outputs in pairwise(sizes):
            end = taken + inputs * outputs
            weights = theta[..., taken:end].reshape(*theta.shape[:-1], outputs, inputs)
            taken = end + outputs * self.bias
            bias = theta[..., end:taken] if self.bias else xp.zeros_like(theta[..., :1])
            layers.append((weights, bias))
        return layers


def _affine(inputs: Array, weights: Array, bias: Array) -> Array:
    """W h + b for every item, [..., d, outputs]."""
    return dot(inputs[..., None, :], weights[..., None, :, :]) + bias[..., None, :]


@lru_cache
def start(sizes: tuple[int, ...], bias: bool) -> np.ndarray:
    """The parameters at θ = 0: normal with variance 1/inputs, biases and last layer 0."""
    parts = []
    for layer, (inputs, outputs) in enumerate(pairwise(sizes)):
        name = f"{INITIAL}/{layer}"
        weights = draw((0,), name, Draw("normal", (outputs * inputs,)))[0, 0] / math.sqrt(inputs)
        last = layer == len(sizes) - 2
        parts.append(np.zeros_like(weights) if last else weights)
        parts.append(np.zeros(outputs * bias))
    return np.concatenate(parts)
