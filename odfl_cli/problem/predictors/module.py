"""A torch module as a predictor: θ counts from its initial parameters, autograd gives the gradient."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from torch.func import functional_call, vjp

from odfl_cli.core.arrays import Array
from odfl_cli.problem.predictors.tracing import Traced, one_by_one, over_leading

Model = Callable[[torch.Tensor], torch.Tensor]
Apply = Callable[[Model, torch.Tensor], torch.Tensor]
"""Calls a model with the X of one round: as it is, as a batch of one, or item by item."""


def held(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Place → parameter or buffer; shared ones in all their places, shared submodules once."""
    return {
        f"{home}.{name}" if home else name: tensor
        for home, part in module.named_modules()
        for name, tensor in (part._parameters | part._buffers).items()
        if tensor is not None
    }


@dataclass(frozen=True)
class Layout:
    """The numbers of a module as one vector: the m parameters that are learnt, then those that are not.

    Learnt is what requires a gradient; parameters that do not, and buffers of real numbers, stay as
    they are initially.
    """

    names: tuple[str, ...]
    shapes: tuple[torch.Size, ...]
    learnt: int  # m
    places: tuple[tuple[str, str], ...]  # every place in the module, and the name of what it holds

    @classmethod
    def of(cls, module: torch.nn.Module) -> "Layout":
        """That of the module."""
        tensors = {place: x for place, x in held(module).items() if x.is_floating_point()}
        first: dict[int, str] = {}
        places = tuple((place, first.setdefault(id(x), place)) for place, x in tensors.items())
        names = sorted(first.values(), key=lambda name: not tensors[name].requires_grad)
        sizes = [tensors[name].numel() for name in names if tensors[name].requires_grad]
        return cls(tuple(names), tuple(tensors[name].shape for name in names), sum(sizes), places)

    def flat(self, module: torch.nn.Module) -> np.ndarray:
        """The vector of a module that has this layout."""
        tensors = held(module)
        values = [tensors[name].detach().double().cpu().reshape(-1) for name in self.names]
        return torch.cat(values).numpy()

    def named(self, learnt: torch.Tensor, fixed: torch.Tensor) -> dict[str, torch.Tensor]:
        """The tensors in the two parts of a vector, by their places in the module."""
        tensors, start = {}, 0
        for name, shape in zip(self.names, self.shapes, strict=True):
            part, place = (learnt, start) if start < self.learnt else (fixed, start - self.learnt)
            whole = part.shape[0] == shape.numel()
            piece = part if whole else part[place : place + shape.numel()]
            tensors[name] = piece.view(shape)
            start += shape.numel()
        return {place: tensors[name] for place, name in self.places}

    def filled(self, module: torch.nn.Module, numbers: np.ndarray) -> torch.nn.Module:
        """A copy of the module that holds the numbers of the vector."""
        module, vector = copy.deepcopy(module), torch.from_numpy(numbers)
        values = self.named(vector[: self.learnt], vector[self.learnt :])
        with torch.no_grad():
            for place, tensor in held(module).items():
                tensor.copy_(values.get(place, tensor))
        return module


class Evaluation:
    """A module as a function of its numbers and of X, with its vector-Jacobian product.

    `key` is what messages call it. `batched`: rows are computed together, by vmap; False, where torch cannot: one after another.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        items: int,
        shape: tuple[int, ...],
        apply: Apply,
        key: str,
        batched: bool = True,
    ) -> None:
        self.module, self.items, self.shape, self.batched = module, items, shape, batched
        self.key = key
        self._over = over_leading if batched else one_by_one
        self.layout, self.apply = Layout.of(module), apply
        self._on = cache(lambda device: copy.deepcopy(module).to(device))

    @cached_property
    def value(self) -> Traced:
        """(origin, θ, X) → g, [..., d]."""

        def value(origin: torch.Tensor, theta: torch.Tensor, X: torch.Tensor) -> torch.Tensor:
            vectors = self._vectors(origin, theta)
            return self._over(self._of_a_round, (vectors, X), (1, len(self.shape)))

        return Traced(value, recording=self.batched)

    @cached_property
    def pull(self) -> Traced:
        """(origin, θ, X, v) → (∇_θ g)ᵀ v, [..., m]."""

        def pull(
            origin: torch.Tensor, theta: torch.Tensor, X: torch.Tensor, v: torch.Tensor
        ) -> torch.Tensor:
            vectors = self._vectors(origin, theta)
            return self._over(self._pulled, (vectors, X, v), (1, len(self.shape), 1))

        return Traced(pull, recording=self.batched)

    @cached_property
    def numbers_kept(self) -> int:
        """What autograd stores of one call of the module."""
        sizes: list[int] = []
        hooks = torch.autograd.graph.saved_tensors_hooks(
            lambda tensor: sizes.append(tensor.numel()), lambda nothing: nothing
        )
        with torch.inference_mode(False), torch.enable_grad(), hooks:
            self.apply(self.module, torch.zeros(self.shape, dtype=torch.float64))
        return sum(sizes)

    def _vectors(self, origin: torch.Tensor, theta: torch.Tensor) -> torch.Tensor:
        """The parameters at θ and the fixed numbers, [..., ≥ m]."""
        more = origin.shape[-1] - theta.shape[-1]
        return origin + (torch.nn.functional.pad(theta, (0, more)) if more else theta)

    def _of_a_round(self, vector: torch.Tensor, X: torch.Tensor) -> torch.Tensor:
        """The costs [d] that the module with the numbers of `vector` predicts for one round."""
        m = self.layout.learnt
        return self._of_parts(vector[:m], vector[m:], X)

    def _of_parts(self, learnt: torch.Tensor, fixed: torch.Tensor, X: torch.Tensor) -> torch.Tensor:
        module, tensors = self._on(X.device), self.layout.named(learnt, fixed)
        model = lambda given: functional_call(module, tensors, (given,), tie_weights=False)  # noqa: E731
        return self.apply(model, X).reshape(self.items)

    def _pulled(self, vector: torch.Tensor, X: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        m = self.layout.learnt
        return vjp(lambda learnt: self._of_parts(learnt, vector[m:], X), vector[:m])[1](v)[0]


@dataclass(frozen=True, eq=False)
class ModulePredictor:
    """g(θ, X) = the module with its initial parameters plus θ, for θ in a ball around 0.

    Every seed may have initial parameters of its own. So X has the seeds as its first axis (or
    belongs to one seed alone), and θ has them in the same place.
    """

    evaluation: Evaluation
    initial: Callable[[int], np.ndarray]  # seed → the numbers of its module
    radius: float | None = None  # of Θ; None: that of the configuration
    origin: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))  # [S, ≥ m]

    needs_torch: ClassVar[bool] = True

    def parameter_count(self, items: int, features: int) -> int:
        """m, the parameters that are learnt."""
        return self.evaluation.layout.learnt

    @property
    def chosen_as(self) -> str:
        """How it was chosen, for messages: predictor=mlp, predictor.module=my_models.Net."""
        return self.evaluation.key

    def for_seeds(self, seeds: tuple[int, ...]) -> "ModulePredictor":
        """With the initial parameters of these seeds."""
        return replace(self, origin=np.stack([self.initial(seed) for seed in seeds]))

    def rows(self, part: slice) -> "ModulePredictor":
        """With some of the seeds it has, in the same order; a single origin serves any seeds."""
        return self if len(self.origin) == 1 else replace(self, origin=self.origin[part])

    @property
    def numbers_kept(self) -> int:
        """The numbers that a gradient of one round keeps between its two passes."""
        return self.evaluation.numbers_kept

    def predict(self, theta: Array, X: Array) -> Array:
        """g(θ, X), [..., d]."""
        return self._called(self.evaluation.value, theta, X)

    def vjp(self, theta: Array, X: Array, v: Array) -> Array:
        """(∇_θ g)ᵀ v by reverse-mode differentiation, [..., m]."""
        return self._called(self.evaluation.pull, theta, X, v)

    def learnt(self, theta: np.ndarray, seed: int) -> torch.nn.Module:
        """A module of its own: the initial parameters of the seed plus θ [m]."""
        layout, numbers = self.evaluation.layout, self.initial(seed).copy()
        numbers[: layout.learnt] += theta
        return layout.filled(self.evaluation.module, numbers)

    def _called(self, function: Traced, theta: Array, *arrays: Array) -> Array:
        """The function of tensors, also for numpy arrays; the first of `arrays` is X."""
        if not isinstance(theta, np.ndarray):
            return function(self._origin(arrays[0]), theta, *arrays)
        tensors = [torch.from_numpy(np.ascontiguousarray(x)) for x in (theta, *arrays)]
        return function(self._origin(tensors[1]), *tensors).numpy()

    def _origin(self, X: torch.Tensor) -> torch.Tensor:
        """The initial numbers where X is, [S, 1, …, ≥ m] with the axes that θ has."""
        between = X.ndim - len(self.evaluation.shape) - 1
        key = X.device, X.dtype, between
        if key not in self._origins:
            axes = (len(self.origin), *[1] * between) if between >= 0 else ()
            origin = torch.from_numpy(self.origin.reshape(*axes, -1))
            self._origins[key] = origin.to(dtype=X.dtype, device=X.device)
        return self._origins[key]

    @cached_property
    def _origins(self) -> dict[Any, torch.Tensor]:
        return {}
