"""A torch module as a predictor: θ is relative to its initial parameters, autograd gives the gradient."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import product
from threading import Lock
from typing import Any, ClassVar

import numpy as np
import torch
from torch.func import functional_call, vjp, vmap
from torch.nn.utils import vector_to_parameters

from odfl_cli.core.arrays import Array

Model = Callable[[torch.Tensor], torch.Tensor]
Call = Callable[[Model, torch.Tensor], torch.Tensor]
"""Calls a model with the X of one round: as it is, as a batch of one, or item by item."""


@dataclass(frozen=True, eq=False)
class Network:
    """One module and its vector-Jacobian product as functions of θ and X; if `batched`, rounds are joined by vmap."""

    module: torch.nn.Module
    items: int  # d
    shape: tuple[int, ...]  # of one round's X
    call: Call
    initial: torch.Tensor  # the m parameters at θ = 0
    batched: bool = False
    _lock: Lock = field(default_factory=Lock)  # parameters are set during a call

    @cached_property
    def _learnt(self) -> list[torch.nn.Parameter]:
        return learnt_parameters(self.module)

    @cached_property
    def _vector(self) -> torch.Tensor:
        """The memory [m] that the learnt parameters are views of."""
        vector = self.initial.clone()
        vector_to_parameters(vector, self._learnt)
        return vector

    @cached_property
    def _places(self) -> dict[str, int]:
        """The number of the learnt parameter at each place of the module."""
        numbers = {id(parameter): number for number, parameter in enumerate(self._learnt)}
        return {
            f"{home}.{name}" if home else name: numbers[id(parameter)]
            for home, part in self.module.named_modules()
            for name, parameter in part.named_parameters(recurse=False, remove_duplicate=False)
            if id(parameter) in numbers
        }

    def predict(self, theta: torch.Tensor, X: torch.Tensor) -> torch.Tensor:
        """g(θ, X) [N, d] for one θ [m] and the N rounds in X [..., *shape]."""
        X = X.reshape(-1, *self.shape).clone()  # memory has the same alignment for every seed
        with self._lock, torch.no_grad():
            torch.add(self.initial, theta, out=self._vector)
            return self._over_rounds(self._costs, X)

    def vjp(self, theta: torch.Tensor, X: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """(∇_θ g)ᵀ v [N, m] for one θ [m], the N rounds in X [..., *shape] and v [..., d]."""
        X, v = X.reshape(-1, *self.shape).clone(), v.reshape(-1, self.items).clone()
        with self._lock, torch.no_grad():
            torch.add(self.initial, theta, out=self._vector)
            pull = self._pull_functional if self.batched and len(X) > 1 else self._pull
            return self._over_rounds(pull, X, v)

    def on(self, tensor: torch.Tensor) -> "Network":
        """The network on the device and with the dtype of the tensor."""
        initial = self.initial.to(tensor)
        if initial is self.initial:
            return self
        return replace(self, module=copy.deepcopy(self.module).to(tensor), initial=initial)

    def with_module(self, module: torch.nn.Module) -> "Network":
        """The network of another module of the same architecture."""
        module = copy.deepcopy(module).double()
        return replace(self, module=module, initial=initial_parameters(module), _lock=Lock())

    def trained_module(self, theta: np.ndarray) -> torch.nn.Module:
        """A copy of the module with its parameters at θ [m]."""
        module = copy.deepcopy(self.module)
        parameters = learnt_parameters(module)
        vector_to_parameters(self.initial + torch.from_numpy(theta), parameters)
        for parameter in parameters:
            parameter.data = parameter.data.clone()  # in its own memory, for safetensors
        return module

    def _over_rounds(
        self, function: Callable[..., torch.Tensor], *tensors: torch.Tensor
    ) -> torch.Tensor:
        if self.batched and len(tensors[0]) > 1:
            return vmap(function)(*tensors)
        return torch.stack([function(*row) for row in zip(*tensors, strict=True)])

    def _costs(self, X: torch.Tensor, model: Model | None = None) -> torch.Tensor:
        return self.call(model or self.module, X).reshape(self.items)

    def _pull(self, X: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        with torch.enable_grad():
            costs = self._costs(X)
        if not costs.requires_grad:  # a branch that uses no parameter
            return torch.zeros_like(self.initial)
        slopes = torch.autograd.grad(costs, self._learnt, v, materialize_grads=True)
        return torch.cat([slope.reshape(-1) for slope in slopes])

    def _pull_functional(self, X: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """The same for vmap, which needs functions of the parameters alone."""

        def costs(*tensors: torch.Tensor) -> torch.Tensor:
            placed = {name: tensors[place] for name, place in self._places.items()}
            # tie_weights would replace the parameters of a submodule that is in two places
            return self._costs(X, partial(functional_call, self.module, placed, tie_weights=False))

        slopes = vjp(costs, *(p.detach() for p in self._learnt))[1](v)
        return torch.cat([slope.reshape(-1) for slope in slopes])


def learnt_parameters(module: torch.nn.Module) -> list[torch.nn.Parameter]:
    """The parameters that require a gradient, each once."""
    return [p for p in module.parameters() if p.requires_grad]


def initial_parameters(module: torch.nn.Module) -> torch.Tensor:
    """The values of the learnt parameters as one vector, [m]."""
    return torch.cat([p.detach().reshape(-1) for p in learnt_parameters(module)])


@dataclass(frozen=True, eq=False)
class ModulePredictor:
    """g(θ, X) = the module with its initial parameters plus θ, for θ in a ball around 0.

    Every seed may have its own network. So the first axis of X is the seeds (or X belongs to one
    seed), and θ has them at the same place. Networks are called seed by seed: with torch's batched
    products, the last digits of a seed would depend on the other seeds.
    """

    chosen_as: str  # for messages: predictor=mlp, predictor.module=my_models.Net
    network: Callable[[int], Network]  # seed → its network
    radius: float | None = None  # of Θ; None: that of the configuration
    networks: tuple[Network, ...] = ()

    needs_torch: ClassVar[bool] = True

    def parameter_count(self, items: int, features: int) -> int:
        return len(self.networks[0].initial)

    def for_seeds(self, seeds: Sequence[int]) -> "ModulePredictor":
        """The predictor with the networks of these seeds."""
        return replace(self, networks=tuple(self.network(seed) for seed in seeds))

    def rows(self, part: slice) -> "ModulePredictor":
        """The predictor of some of its seeds, by their places; a single network is for all seeds."""
        return self if len(self.networks) == 1 else replace(self, networks=self.networks[part])

    def predict(self, theta: Array, X: Array) -> Array:
        return self._evaluate(Network.predict, self.networks[0].items, theta, X)

    def vjp(self, theta: Array, X: Array, v: Array) -> Array:
        return self._evaluate(Network.vjp, theta.shape[-1], theta, X, v)

    def trained_module(self, theta: np.ndarray, seed: int) -> torch.nn.Module:
        """A copy of the seed's module with its parameters at θ [m]."""
        return self.network(seed).trained_module(theta)

    @torch.inference_mode(False)  # its tensors cannot be differentiated
    def _evaluate(
        self, function: Callable[..., torch.Tensor], width: int, theta: Array, X: Array, *v: Array
    ) -> Array:
        """Calls a network once for each seed and θ, with all their rounds, [..., width]."""
        if isinstance(theta, np.ndarray):
            tensors = (torch.tensor(array) for array in (theta, X, *v))
            return self._evaluate(function, width, *tensors).numpy()
        shape, networks = self.networks[0].shape, self._on(theta)
        leading = X.shape[: X.ndim - len(shape)]
        of_seeds = (len(networks), *[1] * (len(leading) - 1)) if leading else ()
        lead = torch.broadcast_shapes(theta.shape[:-1], leading, of_seeds)
        counts = [1] * (len(lead) + 1 - theta.ndim) + list(theta.shape[:-1])
        seeds_axis = len(lead) - len(leading)
        if len(networks) > 1:
            counts[seeds_axis] = len(networks)
        theta, X = theta.expand(*counts, -1), X.expand(*lead, *shape)
        v = tuple(array.expand(*lead, -1) for array in v)
        values = theta.new_empty((*lead, width))
        for place in product(*map(range, counts)):
            rows = tuple(i if n > 1 else slice(None) for i, n in zip(place, counts, strict=True))
            network = networks[place[seeds_axis] if len(networks) > 1 else 0]
            given = theta[place], X[rows], *(array[rows] for array in v)
            values[rows] = function(network, *given).reshape(values[rows].shape)
        return values

    def _on(self, tensor: torch.Tensor) -> tuple[Network, ...]:
        """The networks on the tensor's device, with its dtype."""
        key = tensor.device, tensor.dtype
        if key not in self._networks_on:
            self._networks_on[key] = tuple(network.on(tensor) for network in self.networks)
        return self._networks_on[key]

    @cached_property
    def _networks_on(self) -> dict[Any, tuple[Network, ...]]:
        return {}
