"""Frozen, validated hyperparameters: the decorator every configurable component wears."""

from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

__all__ = ["NonNegative", "Positive", "PositiveInt", "settings"]

settings = dataclass(
    frozen=True,
    kw_only=True,
    config=ConfigDict(extra="forbid", arbitrary_types_allowed=True, allow_inf_nan=False),
)
"""A dataclass whose fields are the keys of one YAML file; a wrong value is refused on construction."""

Positive = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]
PositiveInt = Annotated[int, Field(ge=1)]
