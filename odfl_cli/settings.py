"""Frozen, validated hyperparameters: the decorator every configurable component wears."""

from typing import Annotated, Any, TypeVar, dataclass_transform

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

Class = TypeVar("Class")

CONFIG = ConfigDict(extra="forbid", arbitrary_types_allowed=True, allow_inf_nan=False)

Positive = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]
PositiveInt = Annotated[int, Field(ge=1)]


@dataclass_transform(kw_only_default=True, frozen_default=True)
def settings(cls: type[Class]) -> type[Class]:
    """A dataclass whose fields are the keys of one YAML file; it refuses wrong values."""
    checked: Any = dataclass(frozen=True, kw_only=True, config=CONFIG)(cls)
    return checked
