"""Arrays of numpy or torch through the array API; torch is imported only by those who use it."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = Any  # numpy.ndarray or torch.Tensor

TINY = 1e-300  # replaces zeros before a division or a logarithm


def array_namespace(x: Array) -> Any:
    """The array API namespace of x: numpy itself, or array-api-compat's wrapper of torch."""
    if isinstance(x, (np.ndarray, np.generic)):  # a union of types is slower
        return np
    import array_api_compat

    return array_api_compat.array_namespace(x)


def dot(a: Array, b: Array) -> Array:
    """⟨a, b⟩ over the last axis.

    A product and a sum, not a matrix product: batched BLAS calls give a seed other last digits
    when other seeds run beside it.
    """
    product = a * b  # numpy's method `sum` calls this function after some lines of Python
    return np.add.reduce(product, -1) if isinstance(product, np.ndarray) else product.sum(-1)


def positive(x: Array) -> Array:
    """x ≥ 0 with zeros replaced by TINY, or by the smallest normal number in single precision."""
    return x.clip(TINY if x.dtype.itemsize == 8 else 2.0**-126)


def to_type(x: Array, dtype: Any) -> Array:
    """x converted to a dtype. Numpy's `astype` of the array API is three times slower than the method."""
    return x.astype(dtype) if isinstance(x, np.ndarray) else x.to(dtype)


def unit(x: Array) -> Array:
    """x scaled to length 1 over the last axis; 0 stays 0."""
    return x / array_namespace(x).sqrt(positive(dot(x, x)))[..., None]


def weighted_sum(D: Array, weights: Array) -> Array:
    """Dᵀ weights, [..., m]."""
    return (D * weights[..., None]).sum(-2)


def like(x: Array, values: np.ndarray) -> Array:
    """The values as an array of x's library, number type and device."""
    if isinstance(x, np.ndarray):
        return np.asarray(values, dtype=x.dtype)
    return array_namespace(x).asarray(values, dtype=x.dtype, device=x.device)


def to_numpy(values: Array) -> np.ndarray:
    """The values as a numpy array; a tensor is copied from its device."""
    return values if isinstance(values, np.ndarray) else np.asarray(values.cpu())


def on_rows(function: Callable[..., np.ndarray], *values: Array) -> Array:
    """Applies a numpy function of rows [N, d], [N, e], … → [N, k] to arrays [..., d], [..., e], …

    Leading axes broadcast. The result is an array of the first one's library, [..., k].
    """
    arrays = [to_numpy(value) for value in values]
    leads = [array.shape[:-1] for array in arrays]
    lead = leads[0] if leads.count(leads[0]) == len(leads) else np.broadcast_shapes(*leads)
    result = function(*[_rows(array, lead) for array in arrays])
    result = result.reshape(*lead, result.shape[-1])
    return result if isinstance(values[0], np.ndarray) else like(values[0], result)


def _rows(array: np.ndarray, lead: tuple[int, ...]) -> np.ndarray:
    """The array broadcast to `lead` and flattened to [N, d]: contiguous and writable, as kernels need it."""
    if array.shape[:-1] != lead:
        array = np.broadcast_to(array, (*lead, array.shape[-1]))
    rows = np.ascontiguousarray(array.reshape(-1, array.shape[-1]), dtype=np.float64)
    return rows if rows.flags.writeable else rows.copy()


def map_tree(function: Callable[..., Any], *trees: Any, path: str = "") -> Any:
    """function(path, leaf, …) at every leaf of named records that have the same form."""
    first = trees[0]
    if not isinstance(first, tuple):
        return function(path, *trees)
    names = getattr(first, "_fields", range(len(first)))
    parts = [
        map_tree(function, *part, path=f"{path}.{name}".lstrip("."))
        for name, *part in zip(names, *trees, strict=True)
    ]
    return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)


def map_arrays(state: Any, kind: type, convert: Callable[[Any], Any]) -> Any:
    """The named record with `convert` applied to its arrays of type `kind`."""
    return map_tree(lambda _, x: convert(x) if isinstance(x, kind) else x, state)


def join_arrays(states: Sequence[Any]) -> Any:
    """Concatenates the numpy arrays of equal named records along the first axis."""
    return map_tree(
        lambda _, x, *more: np.concatenate([x, *more]) if isinstance(x, np.ndarray) else x, *states
    )
