"""The same number of four seeds side by side in one register, so that one instruction computes all four.

A register is a value of type `lanes`, with + − × ÷ among themselves and with floats; arrays hold it as
their last axis, [..., LANES]. No seed's number depends on what the other lanes hold. Compiled, by odfl_cli.core.compiling, into kernels.
"""

import operator
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.core.datamodel import PrimitiveModel
from numba.extending import intrinsic, lower_builtin, register_model, type_callable

from odfl_cli.engine.kernels.lanes import LANES

VECTOR = ir.VectorType(ir.DoubleType(), LANES)
MANTISSA_BITS = 52
FLAGS = ("contract",)
"""a·b + c may be rounded once; sums keep their order."""


class Lanes(types.Type):
    """The type of a register."""


lanes, number = Lanes(name="lanes"), types.float64


@register_model(Lanes)
class LanesModel(PrimitiveModel):
    """Lanes are LLVM's vectors."""

    def __init__(self, manager: Any, of: Lanes) -> None:
        super().__init__(manager, of, VECTOR)


def everywhere(builder: Any, x: Any) -> Any:
    """x in every lane."""
    lane = ir.IntType(32)
    first = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), x, lane(0))
    return builder.shuffle_vector(first, first, ir.VectorType(lane, LANES)([0] * LANES))


def widened(builder: Any, signature: Any, values: Any) -> list[Any]:
    """The values, floats among lanes in every lane."""
    if lanes not in signature.args:
        return list(values)
    kinds = zip(signature.args, values, strict=True)
    return [value if kind is lanes else everywhere(builder, value) for kind, value in kinds]


def define(operation: Any, instruction: str) -> None:
    """Lets `operation` be compiled to LLVM's `instruction` where one side is `lanes`, the other perhaps a float."""

    @type_callable(operation)
    def typed(context):
        return lambda a, b: lanes if lanes in (a, b) and {a, b} <= {lanes, number} else None

    def lowered(context, builder, signature, sides):
        return getattr(builder, instruction)(*widened(builder, signature, sides), flags=FLAGS)

    for kinds in ((lanes, lanes), (lanes, number), (number, lanes)):
        lower_builtin(operation, *kinds)(lowered)


define(operator.add, "fadd")
define(operator.sub, "fsub")
define(operator.mul, "fmul")
define(operator.truediv, "fdiv")


@intrinsic
def spread(context, x):
    """The float x in every lane."""
    return lanes(number), lambda context, builder, signature, xs: everywhere(builder, xs[0])


def place(context, builder, signature, array, index):
    """The pointer to array[index], a register or a float of a contiguous array."""
    kind, many = signature.args[:2]
    view = context.make_array(kind)(context, builder, array)
    flat, *rest = cgutils.unpack_tuple(builder, index, len(many))
    for axis, number in enumerate(rest, 1):
        flat = builder.add(builder.mul(flat, builder.extract_value(view.shape, axis)), number)
    held = view.data.type if kind.ndim == len(many) else VECTOR.as_pointer()
    return builder.gep(builder.bitcast(view.data, held), [flat])


@intrinsic
def load(context, array, index):
    """array[index], a register of an array [..., LANES] or a float; index is a tuple of integers."""

    def generate(context, builder, signature, values):
        pointer = place(context, builder, signature, *values)
        return builder.load(pointer, align=8)

    held = number if array.ndim == len(index) else lanes
    return held(array, types.UniTuple(types.intp, len(index))), generate


@intrinsic
def store(context, array, index, value):
    """array[index] = value."""

    def generate(context, builder, signature, values):
        pointer = place(context, builder, signature, *values[:2])
        builder.store(values[2], pointer, align=8)
        return context.get_dummy_value()

    return types.void(array, types.UniTuple(types.intp, len(index)), lanes), generate


@intrinsic
def root(context, x):
    """√x."""

    def generate(context, builder, signature, values):
        kind = ir.FunctionType(VECTOR, [VECTOR])
        name = f"llvm.sqrt.v{LANES}f64"
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), values)

    return lanes(lanes), generate


@intrinsic
def where_less(context, a, b, x, y):
    """x where a < b, y elsewhere; of lanes, floats, or both."""

    def generate(context, builder, signature, values):
        a, b, x, y = widened(builder, signature, values)
        return builder.select(builder.fcmp_ordered("<", a, b), x, y)

    kinds = (a, b, x, y)
    return (lanes if lanes in kinds else number)(*kinds), generate


@intrinsic
def any_less(context, a, b):
    """Whether a < b in any lane."""

    def generate(context, builder, signature, values):
        less = builder.fcmp_ordered("<", *widened(builder, signature, values))
        bits = builder.bitcast(less, ir.IntType(LANES))
        return builder.icmp_unsigned("!=", bits, bits.type(0))

    return types.boolean(a, b), generate


@intrinsic
def low_bits_as_exponent(context, x):
    """The float whose exponent is the lowest bits of x; of lanes or of floats."""

    def generate(context, builder, signature, values):
        (x,) = values
        word = ir.IntType(64)
        whole, places = (
            (ir.VectorType(word, LANES), [MANTISSA_BITS] * LANES)
            if x.type == VECTOR
            else (word, MANTISSA_BITS)
        )
        return builder.bitcast(builder.shl(builder.bitcast(x, whole), whole(places)), x.type)

    return x(x), generate
