"""Vectors of numbers as values in kernels, so that one instruction computes four seeds, rounds or parameters.

A value of type `lanes` holds LANES doubles, with + − × ÷ among themselves and with floats; arrays hold it
as their last axis, [..., LANES]. No lane depends on the others. Most functions take plain floats
too, so that one source computes one case or four. `wide` and `short` hold WIDE doubles or short floats.
"""

import operator
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from odfl_cli.core.compiling import exact, inner

LANES = 4
"""Doubles in a register of 256 bits; wider ones would often be half empty."""
WIDE = 4 * LANES
"""Doubles in four registers, or short floats in two: enough to hide the latency of an operation."""

MANTISSA_BITS = 52
FLAGS = ("contract",)
"""a·b + c may be rounded once; sums keep their order."""


class Lanes(types.Type):
    """The numba type of `count` numbers side by side."""

    def __init__(self, number: types.Float, count: int) -> None:
        self.number, self.count = number, count
        element = ir.DoubleType() if number is types.float64 else ir.FloatType()
        self.vector = ir.VectorType(element, count)
        super().__init__(name=f"{count} lanes of {number}")


lanes, wide = Lanes(types.float64, LANES), Lanes(types.float64, WIDE)
short = Lanes(types.float32, WIDE)


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):
    """Lanes are LLVM vectors."""

    def __init__(self, manager: Any, kind: Lanes) -> None:
        super().__init__(manager, kind, kind.vector)


def common_type(*kinds: Any) -> Any:
    """The lanes type among floats of its kind, the float type where all are floats, else None."""
    widest = next((kind for kind in kinds if isinstance(kind, Lanes)), kinds[0])
    allowed = {widest, getattr(widest, "number", widest)}
    return widest if allowed.issuperset(kinds) else None


def broadcast(builder: Any, kind: Lanes, x: Any) -> Any:
    """x in every lane."""
    lane = ir.IntType(32)
    first = builder.insert_element(ir.Constant(kind.vector, ir.Undefined), x, lane(0))
    return builder.shuffle_vector(first, first, ir.VectorType(lane, kind.count)([0] * kind.count))


def broadcast_all(builder: Any, signature: Any, values: Any) -> list[Any]:
    """The values, with floats broadcast to the lanes among them."""
    common = common_type(*signature.args)
    kinds = zip(signature.args, values, strict=True)
    return [x if kind is common else broadcast(builder, common, x) for kind, x in kinds]


def define(operation: Any, instruction: str) -> None:
    """Compiles `operation` to an LLVM instruction where one side is lanes, the other lanes or a float."""

    @type_callable(operation)
    def resolve(context):
        return lambda a, b: common_type(a, b) if isinstance(common_type(a, b), Lanes) else None

    def lower(context, builder, signature, sides):
        return getattr(builder, instruction)(*broadcast_all(builder, signature, sides), flags=FLAGS)

    for kinds in ((Lanes, Lanes), (Lanes, types.Float), (types.Float, Lanes)):
        lower_builtin(operation, *kinds)(lower)


define(operator.add, "fadd")
define(operator.sub, "fsub")
define(operator.mul, "fmul")
define(operator.truediv, "fdiv")


def define_spread(kind: Lanes) -> Any:
    """The intrinsic `spread` for one type of lanes."""

    @intrinsic
    def spread(context, x):
        """The float x in every lane."""
        return kind(kind.number), lambda context, builder, signature, xs: broadcast(
            builder, kind, *xs
        )

    return spread


spread, spread_wide, spread_short = map(define_spread, (lanes, wide, short))


def element_pointer(context, builder, signature, held, array, index):
    """The pointer to array[index] of a contiguous array that holds lanes or floats there."""
    kind, indices = signature.args[:2]
    view = context.make_array(kind)(context, builder, array)
    flat, *rest = cgutils.unpack_tuple(builder, index, len(indices))
    for axis, number in enumerate(rest, 1):
        flat = builder.add(builder.mul(flat, builder.extract_value(view.shape, axis)), number)
    pointer = held.vector.as_pointer() if isinstance(held, Lanes) else view.data.type
    return builder.gep(builder.bitcast(view.data, pointer), [flat])


def element_type(array: Any, index: Any, kind: Lanes) -> Any:
    """The type of array[index]: lanes where the last axis of a contiguous array is left, else a float."""
    if array.layout != "C" or array.ndim - len(index) not in (0, 1):
        raise TypingError(f"{len(index)} indices of a {array}, which must be contiguous")
    return kind.number if array.ndim == len(index) else kind


def define_load(kind: Lanes) -> Any:
    """The intrinsic `load` for one type of lanes."""

    @intrinsic
    def load(context, array, index):
        """array[index], lanes of an array [..., count] or a float; index is a tuple of integers."""
        held = element_type(array, index, kind)

        def generate(context, builder, signature, values):
            pointer = element_pointer(context, builder, signature, held, *values)
            return builder.load(pointer, align=kind.number.bitwidth // 8)

        return held(array, types.UniTuple(types.intp, len(index))), generate

    return load


load, load_wide, load_short = map(define_load, (lanes, wide, short))


@intrinsic
def store(context, array, index, value):
    """array[index] = value; a float is stored in every lane."""
    kind = value if isinstance(value, Lanes) else types.float64
    held = element_type(array, index, value if isinstance(value, Lanes) else lanes)

    def generate(context, builder, signature, values):
        pointer = element_pointer(context, builder, signature, held, *values[:2])
        stored = values[2] if kind is held else broadcast(builder, held, values[2])
        builder.store(stored, pointer, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.UniTuple(types.intp, len(index)), kind), generate


@intrinsic
def zero_like(context, array):
    """0 as an array [n] of floats or [n, LANES] of lanes holds it."""

    def generate(context, builder, signature, values):
        zero = ir.Constant(ir.DoubleType(), 0.0)
        return zero if array.ndim == 1 else broadcast(builder, lanes, zero)

    return (types.float64 if array.ndim == 1 else lanes)(array), generate


def define_function(name: str) -> Any:
    """The LLVM function of that name, for floats and lanes."""

    def function(context, x):
        def generate(context, builder, signature, values):
            kind, suffix = (x.vector, f"v{LANES}f64") if x is lanes else (ir.DoubleType(), "f64")
            declared = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(kind, [kind]), f"llvm.{name}.{suffix}"
            )
            return builder.call(declared, values)

        return x(x), generate

    return intrinsic(function)


root, log = define_function("sqrt"), define_function("log")


@intrinsic
def where_less(context, a, b, x, y):
    """x where a < b, else y; lanes, floats or both."""

    def generate(context, builder, signature, values):
        a, b, x, y = broadcast_all(builder, signature, values)
        return builder.select(builder.fcmp_ordered("<", a, b), x, y)

    return common_type(a, b, x, y)(a, b, x, y), generate


@intrinsic
def any_less(context, a, b):
    """Whether a < b in any lane; lanes, floats or both."""

    def generate(context, builder, signature, values):
        less = builder.fcmp_ordered("<", *broadcast_all(builder, signature, values))
        if lanes not in signature.args:
            return less
        bits = builder.bitcast(less, ir.IntType(LANES))
        return builder.icmp_unsigned("!=", bits, bits.type(0))

    return types.boolean(a, b), generate


@intrinsic
def low_bits_as_exponent(context, x):
    """The float whose exponent is the lowest bits of x; lanes or a float."""

    def generate(context, builder, signature, values):
        (x,) = values
        word = ir.IntType(64)
        whole, places = (
            (ir.VectorType(word, LANES), [MANTISSA_BITS] * LANES)
            if x.type == lanes.vector
            else (word, MANTISSA_BITS)
        )
        return builder.bitcast(builder.shl(builder.bitcast(x, whole), whole(places)), x.type)

    return x(x), generate


def in_lanes(values: np.ndarray) -> np.ndarray:
    """Values [n, S ≤ LANES] of seeds as lanes [n, LANES]; lanes without a seed repeat the last one."""
    return values.take(np.minimum(np.arange(LANES), values.shape[1] - 1), axis=1)


@exact
def gather_rows(rows, first, out):
    """out [n, lanes] = the rows [N, n] from `first` on; lanes without a row repeat the last one."""
    for lane in range(out.shape[1]):
        row = min(first + lane, rows.shape[0] - 1)
        for i in range(out.shape[0]):
            out[i, lane] = rows[row, i]


@exact
def scatter_rows(values, first, rows):
    """The rows [N, n] from `first` on = values [n, lanes]; lanes without a row are left out."""
    for lane in range(min(values.shape[1], rows.shape[0] - first)):
        for i in range(values.shape[0]):
            rows[first + lane, i] = values[i, lane]


@inner
def dot(a, b):
    """⟨a, b⟩ of arrays [n] of floats or [n, LANES]."""
    total = zero_like(a)
    for i in range(a.shape[0]):
        total = total + load(a, (i,)) * load(b, (i,))
    return total


@inner
def copy(a, out):
    """out = a; slices would first ask whether the two overlap."""
    for i in range(out.shape[0]):
        store(out, (i,), load(a, (i,)))
