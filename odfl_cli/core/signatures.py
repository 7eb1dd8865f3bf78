"""What kernels take and return, in numba's words but without numba: f8, f8[:, ::1], i8(f8, f8)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

INTEGERS = (int, np.integer, np.bool_)
NUMBERS = (float, *INTEGERS)


class Type:
    """A type in the signature of a kernel, which is `result(argument, …)`."""

    def __call__(self, *arguments: "Type") -> "Signature":
        """Of a kernel that returns this type."""
        return Signature(self, arguments)

    def fits(self, value: Any) -> bool:
        """Whether machine code for this type may be given the value."""
        raise NotImplementedError

    def of_numba(self) -> Any:
        """The same as a type of numba's."""
        raise NotImplementedError


@dataclass(frozen=True)
class Number(Type):
    """A number, or with axes an array of numbers in C order: f8, f8[:, ::1]."""

    name: str
    axes: int = 0

    def __getitem__(self, index: Any) -> "Number":
        return Number(self.name, len(index) if isinstance(index, tuple) else 1)

    def fits(self, value: Any) -> bool:
        """Integers only where integers are meant; arrays of this very kind that can be written."""
        if not self.axes:
            return isinstance(value, NUMBERS if self.name == "f8" else INTEGERS)
        is_array = isinstance(value, np.ndarray) and value.ndim == self.axes
        return is_array and value.dtype == self.name and value.flags.carray

    def of_numba(self) -> Any:
        """`numba.f8`, `numba.f8[:, ::1]` and so on."""
        from numba import types

        number = getattr(types, self.name)
        return types.Array(number, self.axes, "C") if self.axes else number


@dataclass(frozen=True)
class Record(Type):
    """A tuple, plain or of a class with named fields."""

    kind: type[tuple[Any, ...]]
    fields: tuple[Type, ...]

    def fits(self, value: Any) -> bool:
        """Field by field."""
        return (
            isinstance(value, self.kind)
            and len(value) == len(self.fields)
            and all(field.fits(one) for field, one in zip(self.fields, value, strict=True))
        )

    def of_numba(self) -> Any:
        """A named tuple if the class has names."""
        from numba import types

        fields = tuple(field.of_numba() for field in self.fields)
        return types.BaseTuple.from_types(fields, None if self.kind is tuple else self.kind)


def record(kind: type[tuple[Any, ...]], *fields: Type) -> Record:
    """The type of a tuple of that class with such fields."""
    return Record(kind, fields)


f8, i8, u8, b1, void = map(Number, ("f8", "i8", "u8", "b1", "void"))


@dataclass(frozen=True)
class Signature:
    """What a kernel takes and returns."""

    result: Type
    arguments: tuple[Type, ...]

    def check(self, name: str, values: tuple[Any, ...]) -> None:
        """Machine code would take anything for what it was compiled for."""
        if len(values) != len(self.arguments):
            raise TypeError(f"{name} takes {len(self.arguments)} arguments, not {len(values)}")
        for number, (expected, value) in enumerate(zip(self.arguments, values, strict=True)):
            if not expected.fits(value):
                raise TypeError(f"{name}: argument {number} is no {expected}: {type(value)}")

    def of_numba(self) -> Any:
        """The same as numba's."""
        return self.result.of_numba()(*(argument.of_numba() for argument in self.arguments))
