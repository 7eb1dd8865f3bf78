"""Arrays of numpy or torch behind one name.

Components are written against the array API, so that the same formula runs on numpy arrays
(metrics, state between blocks) and on torch tensors (the torch engine), and so that a process
which needs no torch never imports it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = Any  # numpy.ndarray or torch.Tensor


def array_namespace(x: Array) -> Any:
    """The array API of x's library. Numpy has it natively; torch gets it from array-api-compat."""
    if isinstance(x, np.ndarray | np.generic):
        return np
    import array_api_compat

    return array_api_compat.array_namespace(x)


def dot(a: Array, b: Array) -> Array:
    """⟨a, b⟩ over the last axis.

    A product and a sum, not a matrix product: batched BLAS calls give a seed other last digits
    when other seeds run beside it.
    """
    return (a * b).sum(-1)


def like(x: Array, values: np.ndarray) -> Array:
    """The values as an array of x's library, number type and device."""
    return array_namespace(x).asarray(values, dtype=x.dtype, device=x.device)


def to_numpy(values: Array) -> np.ndarray:
    """As a numpy array, fetched from wherever a tensor lives."""
    return np.asarray(values if isinstance(values, np.ndarray | float | int) else values.cpu())


def on_rows(function: Callable[[np.ndarray], np.ndarray], values: Array) -> Array:
    """Applies a numpy function of rows [N, d] → [N, d'] to an array [..., d] of either library."""
    rows = to_numpy(values).reshape(-1, values.shape[-1])
    result = function(np.ascontiguousarray(rows, dtype=np.float64))
    return like(values, result.reshape(*values.shape[:-1], result.shape[-1]))


def map_arrays(state: Any, kind: type, convert: Callable[[Any], Any]) -> Any:
    """The same named record with its arrays of that kind converted, also those of inner records."""
    if isinstance(state, kind):
        return convert(state)
    if not isinstance(state, tuple):
        return state
    parts = (map_arrays(part, kind, convert) for part in state)
    return type(state)(*parts) if hasattr(state, "_fields") else tuple(parts)


def join_arrays(states: Sequence[Any]) -> Any:
    """Named records of the same kind as one: their numpy arrays joined along the first axis."""
    first = states[0]
    if isinstance(first, np.ndarray):
        return np.concatenate(states)
    if not isinstance(first, tuple):
        return first
    parts = [join_arrays(part) for part in zip(*states, strict=True)]
    return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
