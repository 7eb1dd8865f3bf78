"""Arrays of numpy or torch behind one name.

Components are written against the array API, so that the same formula runs on numpy arrays
(metrics, state between blocks) and on torch tensors (the torch engine), and so that a process
which needs no torch never imports it.
"""

from typing import Any

from array_api_compat import array_namespace

Array = Any  # numpy.ndarray or torch.Tensor

__all__ = ["Array", "array_namespace", "dot"]


def dot(a: Array, b: Array) -> Array:
    """⟨a, b⟩ over the last axis.

    A product and a sum, not a matrix product: batched BLAS calls give a seed other last digits
    when other seeds run beside it.
    """
    return (a * b).sum(-1)
