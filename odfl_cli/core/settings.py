"""Frozen, validated hyperparameters: the decorator of every configurable component."""

from typing import Annotated, Any, TypeVar, dataclass_transform

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic.dataclasses import dataclass

Class = TypeVar("Class")

CONFIG = ConfigDict(extra="forbid", arbitrary_types_allowed=True, allow_inf_nan=False)


def _no_boolean(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("should be a number")
    return value


Real = Annotated[float, BeforeValidator(_no_boolean)]
Integer = Annotated[int, BeforeValidator(_no_boolean), Field(le=2**32 - 1)]
Positive = Annotated[Real, Field(gt=0)]
NonNegative = Annotated[Real, Field(ge=0)]
PositiveInt = Annotated[Integer, Field(ge=1)]


@dataclass_transform(kw_only_default=True, frozen_default=True)
def settings(cls: type[Class]) -> type[Class]:
    """Makes a class a frozen dataclass that validates its fields, the keys of one YAML file."""
    checked: Any = dataclass(frozen=True, kw_only=True, config=CONFIG)(cls)
    return checked
