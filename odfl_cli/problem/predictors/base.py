"""The contract of a predictor."""

from typing import Any, Protocol

from odfl_cli.core.arrays import Array
from odfl_cli.core.errors import UserError


class Predictor(Protocol):
    """A model g(θ, X) with its gradient; leading axes of θ and X broadcast.

    A predictor that is linear in θ also has `design(X)`, the matrix D [..., d, m] with g = Dθ.

    A predictor that depends on more than θ and X has methods that return one for a given shape or
    seeds: `prepared(items, shape)` for X of that shape, `for_seeds(seeds)` if θ is relative to a
    point that depends on the seed, and then `rows(slice)` for some of these seeds. An attribute
    `radius` that is not None replaces the radius of Θ.
    """

    def parameter_count(self, items: int, features: int) -> int:
        """m, the length of θ."""

    def predict(self, theta: Array, X: Array) -> Array:
        """g(θ, X) for θ [..., m] and X [..., d, p], [..., d]."""

    def vjp(self, theta: Array, X: Array, v: Array) -> Array:
        """(∇_θ g)ᵀ v for v [..., d], [..., m]."""


def prepare_predictor(part: Any, items: int, shape: tuple[int, ...]) -> Predictor:
    """The predictor of d = `items` costs from X of that shape, also from a torch module."""
    if hasattr(part, "named_parameters"):  # a torch module, recognised without importing torch
        from odfl_cli.problem.predictors.torch_module import TorchModule

        part = TorchModule(module=part)
    if hasattr(part, "prepared"):
        return part.prepared(items, shape)
    if len(shape) != 2 or shape[0] != items:
        raise UserError(
            f"predictor: {type(part).__name__} takes X of shape [d, p], and the data give "
            f"{list(shape)}; choose predictor=torch"
        )
    return part
