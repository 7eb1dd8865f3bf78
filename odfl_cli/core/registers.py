"""Four numbers, of four seeds, rounds or parameters, in one register, so that one instruction computes all four.

A register is a value of type `lanes`, with + − × ÷ among themselves and with floats; arrays hold it as
their last axis, [..., LANES]. No number depends on what the other lanes hold. Of types `wide` and
`short` are WIDE doubles or short floats, in several registers. Compiled, by odfl_cli.core.compiling, into kernels.
"""

import operator
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.core.datamodel import PrimitiveModel
from numba.core.errors import TypingError
from numba.extending import intrinsic, lower_builtin, register_model, type_callable

from odfl_cli.core.lanes import LANES, WIDE

MANTISSA_BITS = 52
FLAGS = ("contract",)
"""a·b + c may be rounded once; sums keep their order."""


class Lanes(types.Type):
    """The type of `count` numbers side by side."""

    def __init__(self, number: types.Float, count: int) -> None:
        self.number, self.count = number, count
        element = ir.DoubleType() if number is types.float64 else ir.FloatType()
        self.vector = ir.VectorType(element, count)
        super().__init__(name=f"{count} lanes of {number}")


lanes, wide = Lanes(types.float64, LANES), Lanes(types.float64, WIDE)
short = Lanes(types.float32, WIDE)


@register_model(Lanes)
class LanesModel(PrimitiveModel):
    """Lanes are LLVM's vectors."""

    def __init__(self, manager: Any, of: Lanes) -> None:
        super().__init__(manager, of, of.vector)


def common(*kinds: Any) -> Any:
    """The lanes among floats of their kind, the float where there are only such; None for others."""
    widest = next((kind for kind in kinds if isinstance(kind, Lanes)), kinds[0])
    allowed = {widest, getattr(widest, "number", widest)}
    return widest if allowed.issuperset(kinds) else None


def everywhere(builder: Any, of: Lanes, x: Any) -> Any:
    """x in every lane."""
    lane = ir.IntType(32)
    first = builder.insert_element(ir.Constant(of.vector, ir.Undefined), x, lane(0))
    return builder.shuffle_vector(first, first, ir.VectorType(lane, of.count)([0] * of.count))


def widened(builder: Any, signature: Any, values: Any) -> list[Any]:
    """The values, floats among lanes in every lane."""
    of = common(*signature.args)
    kinds = zip(signature.args, values, strict=True)
    return [value if kind is of else everywhere(builder, of, value) for kind, value in kinds]


def define(operation: Any, instruction: str) -> None:
    """Lets `operation` be compiled to LLVM's `instruction` where one side is lanes, the other perhaps a float."""

    @type_callable(operation)
    def typed(context):
        return lambda a, b: common(a, b) if isinstance(common(a, b), Lanes) else None

    def lowered(context, builder, signature, sides):
        return getattr(builder, instruction)(*widened(builder, signature, sides), flags=FLAGS)

    for kinds in ((Lanes, Lanes), (Lanes, types.Float), (types.Float, Lanes)):
        lower_builtin(operation, *kinds)(lowered)


define(operator.add, "fadd")
define(operator.sub, "fsub")
define(operator.mul, "fmul")
define(operator.truediv, "fdiv")


def spreading(of: Lanes) -> Any:
    """An intrinsic for lanes of that kind."""

    @intrinsic
    def spread(context, x):
        """The float x in every lane."""
        return of(of.number), lambda context, builder, signature, xs: everywhere(builder, of, *xs)

    return spread


spread, spread_wide, spread_short = map(spreading, (lanes, wide, short))


def place(context, builder, signature, held, array, index):
    """The pointer to array[index] of a contiguous array that holds lanes, or floats."""
    kind, many = signature.args[:2]
    view = context.make_array(kind)(context, builder, array)
    flat, *rest = cgutils.unpack_tuple(builder, index, len(many))
    for axis, number in enumerate(rest, 1):
        flat = builder.add(builder.mul(flat, builder.extract_value(view.shape, axis)), number)
    kept = held.vector.as_pointer() if isinstance(held, Lanes) else view.data.type
    return builder.gep(builder.bitcast(view.data, kept), [flat])


def held_by(array: Any, index: Any, of: Lanes) -> Any:
    """What a contiguous array holds at an index: lanes where its last axis is left, else a float."""
    if array.layout != "C" or array.ndim - len(index) not in (0, 1):
        raise TypingError(f"{len(index)} indices of a {array}, which must be contiguous")
    return of.number if array.ndim == len(index) else of


def loading(of: Lanes) -> Any:
    """An intrinsic for lanes of that kind."""

    @intrinsic
    def load(context, array, index):
        """array[index], lanes of an array [..., count] or a float; index is a tuple of integers."""
        held = held_by(array, index, of)

        def generate(context, builder, signature, values):
            pointer = place(context, builder, signature, held, *values)
            return builder.load(pointer, align=of.number.bitwidth // 8)

        return held(array, types.UniTuple(types.intp, len(index))), generate

    return load


load, load_wide, load_short = map(loading, (lanes, wide, short))


@intrinsic
def store(context, array, index, value):
    """array[index] = value, in every lane where a float is given for lanes."""
    kind = value if isinstance(value, Lanes) else types.float64
    held = held_by(array, index, value if isinstance(value, Lanes) else lanes)

    def generate(context, builder, signature, values):
        pointer = place(context, builder, signature, held, *values[:2])
        stored = values[2] if kind is held else everywhere(builder, held, values[2])
        builder.store(stored, pointer, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.UniTuple(types.intp, len(index)), kind), generate


@intrinsic
def zero_like(context, array):
    """0 as an array [n] of floats or [n, LANES] of registers holds it."""

    def generate(context, builder, signature, values):
        zero = ir.Constant(ir.DoubleType(), 0.0)
        return zero if array.ndim == 1 else everywhere(builder, lanes, zero)

    return (types.float64 if array.ndim == 1 else lanes)(array), generate


def per_lane(name: str) -> Any:
    """LLVM's function of that name, for floats and registers."""

    def function(context, x):
        def generate(context, builder, signature, values):
            kind, suffix = (x.vector, f"v{LANES}f64") if x is lanes else (ir.DoubleType(), "f64")
            of_llvm = ir.FunctionType(kind, [kind])
            found = cgutils.get_or_insert_function(builder.module, of_llvm, f"llvm.{name}.{suffix}")
            return builder.call(found, values)

        return x(x), generate

    return intrinsic(function)


root, log = per_lane("sqrt"), per_lane("log")


@intrinsic
def where_less(context, a, b, x, y):
    """x where a < b, y elsewhere; of lanes, floats, or both."""

    def generate(context, builder, signature, values):
        a, b, x, y = widened(builder, signature, values)
        return builder.select(builder.fcmp_ordered("<", a, b), x, y)

    return common(a, b, x, y)(a, b, x, y), generate


@intrinsic
def any_less(context, a, b):
    """Whether a < b in any lane; of lanes, floats, or both."""

    def generate(context, builder, signature, values):
        less = builder.fcmp_ordered("<", *widened(builder, signature, values))
        if lanes not in signature.args:
            return less
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
            if x.type == lanes.vector
            else (word, MANTISSA_BITS)
        )
        return builder.bitcast(builder.shl(builder.bitcast(x, whole), whole(places)), x.type)

    return x(x), generate
