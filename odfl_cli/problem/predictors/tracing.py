"""Functions of tensors over leading axes, and the plain operations that they consist of."""

import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import Any

import torch
from torch.func import vmap
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.attention import SDPBackend, sdpa_kernel

Function = Callable[..., torch.Tensor]

RECURRING = 4
"""Tracing takes as long as some tens of calls: it pays for shapes that come again and again."""

MOST_GRAPHS = 256
"""Shapes beyond so many are computed without tracing."""

ONE_AT_A_TIME = threading.RLock()
"""torch.func exchanges the parameters of the module while it is called."""

aten = torch.ops.aten
VIEWS = (
    aten._unsafe_view.default,
    aten.expand.default,
    aten.permute.default,
    aten.squeeze.dim,
    aten.t.default,
    aten.transpose.int,
    aten.unsqueeze.default,
    aten.view.default,
)
"""Operations whose result shows all the memory of their argument, from its first number on."""
METHODS = {
    aten.add.Tensor: "add",
    aten.bmm.default: "bmm",
    aten.expand.default: "expand",
    aten.mm.default: "mm",
    aten.mul.Tensor: "mul",
    aten.permute.default: "permute",
    aten.relu.default: "relu",
    aten.sub.Tensor: "sub",
    aten.sum.dim_IntList: "sum",
    aten.tanh.default: "tanh",
    aten.transpose.int: "transpose",
    aten.view.default: "view",
}
"""The same operation as a method of tensors, which is called several times faster."""


def over_leading(function: Function, tensors: Sequence[torch.Tensor], ranks: Sequence[int]) -> Any:
    """`function` of tensors with `ranks` axes, over all axes before these, which broadcast.

    One vmap per axis; where a tensor has length 1 and others have not, it is passed as it is instead
    of being repeated. An axis of length 1 in all of them is mapped over as well, so that one seed
    goes through the same operations as several.
    """
    leads = [tuple(x.shape[: x.ndim - rank]) for x, rank in zip(tensors, ranks, strict=True)]
    lead = torch.broadcast_shapes(*leads)
    padded = [(1,) * (len(lead) - len(own)) + own for own in leads]
    for sizes in zip_longest(*map(reversed, (lead, *padded))):
        mapped = tuple(0 if size == sizes[0] else None for size in sizes[1:])
        function = vmap(function, in_dims=mapped)
    kept = [[size for size, full in zip(own, lead, strict=True) if size == full] for own in padded]
    shaped = (
        x.reshape(*own, *x.shape[x.ndim - rank :])
        for x, rank, own in zip(tensors, ranks, kept, strict=True)
    )
    return function(*shaped)


def one_by_one(function: Function, tensors: Sequence[torch.Tensor], ranks: Sequence[int]) -> Any:
    """What `over_leading` gives, by one call for every row: for functions that vmap does not take."""
    inner = [x.shape[x.ndim - rank :] for x, rank in zip(tensors, ranks, strict=True)]
    lead = torch.broadcast_shapes(
        *(x.shape[: x.ndim - len(own)] for x, own in zip(tensors, inner, strict=True))
    )
    rows = [x.expand(*lead, *own).reshape(-1, *own) for x, own in zip(tensors, inner, strict=True)]
    results = torch.stack([function(*row) for row in zip(*rows, strict=True)])
    return results.reshape(*lead, *results.shape[1:])


@contextmanager
def general_operations() -> Iterator[None]:
    """Layers by operations that torch.func knows; silence where torch batches by a loop of its own."""
    mkldnn: Any = torch.backends.mkldnn  # of single precision
    fast, enabled = torch.backends.mha.get_fastpath_enabled(), mkldnn.enabled
    torch.backends.mha.set_fastpath_enabled(False)
    mkldnn.enabled = False
    try:
        with warnings.catch_warnings(), sdpa_kernel(SDPBackend.MATH):
            warnings.filterwarnings("ignore", ".*batching rule", UserWarning)
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        mkldnn.enabled = enabled


class Traced:
    """A function without side effects; for shapes that recur, the operations of one recorded call.

    torch.func works out the derivative and the batching anew in every call, which takes many times
    as long as the operations themselves. Without `recording`, every call is one of the function.
    """

    def __init__(self, function: Function, recording: bool = True) -> None:
        self._function, self._recording = function, recording
        self._seen: Counter[Any] = Counter()
        self._graphs: dict[Any, Function] = {}

    def __call__(self, *tensors: torch.Tensor) -> torch.Tensor:
        """The function's value."""
        tensors = tuple([x.contiguous() for x in tensors])
        key = tensors[0].dtype, tensors[0].device, *[x.shape for x in tensors]
        if graph := self._graphs.get(key):
            return graph(*tensors)
        with ONE_AT_A_TIME, general_operations():
            self._seen[key] += self._recording
            if self._seen[key] >= RECURRING and len(self._graphs) < MOST_GRAPHS:
                self._graphs[key] = recorded(self._function, tensors)
            return self._function(*tensors)


def recorded(function: Function, tensors: Sequence[torch.Tensor]) -> Function:
    """The operations of the function on tensors of these shapes; several views in a row are one."""
    with torch.inference_mode(False):
        graph_module = make_fx(function)(*(torch.zeros_like(x) for x in tensors))
    viewed: dict[Any, Any] = {}  # a view → what it is a view of, which is none itself
    for node in graph_module.graph.nodes:
        if node.target in (*VIEWS, aten.slice.Tensor) and "tensor_meta" in node.args[0].meta:
            if node.target in VIEWS:  # of a tensor that is computed; constants have no layout here
                viewed[node] = viewed.get(node.args[0], node.args[0])
            whole = viewed.get(node, node.args[0])
            if _layout(node) == _layout(whole):
                node.replace_all_uses_with(whole)
                continue
            if whole is not node.args[0]:
                node.op, node.target, node.args = (
                    "call_method",
                    "as_strided",
                    (whole, *_layout(node)),
                )
        if node.target in METHODS:
            node.op, node.target = "call_method", METHODS[node.target]
    graph_module.graph.eliminate_dead_code()
    graph_module.recompile()
    return graph_module.forward


def _layout(node: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides; along an axis of length 1 the stride says nothing and is given as 1."""
    meta = node.meta["tensor_meta"]
    pairs = zip(meta.shape, meta.stride, strict=True)
    return tuple(meta.shape), tuple(stride if size > 1 else 1 for size, stride in pairs)
