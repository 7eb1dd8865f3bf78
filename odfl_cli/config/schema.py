"""The top level of the configuration, and error messages for invalid values."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from odfl_cli.core.errors import UserError
from odfl_cli.core.seeds import MOST, parse_seeds
from odfl_cli.core.settings import NonNegative, Positive, PositiveInt
from odfl_cli.core.text import format_value


class TopLevel(BaseModel):
    """The keys outside the groups."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    theta_radius: Positive | Literal["auto"]
    kappa: NonNegative = 0.0
    kappa_rule: Literal["line", "worst"] = "line"
    seeds: int | list[int] | None  # a number or text; None: all seeds of the data
    outputs: Annotated[str, Field(min_length=1)]
    sweep: Annotated[str, Field(pattern=r"^\w[\w.-]*$")]
    objective: Annotated[str, Field(min_length=1)] = "avg_cost"
    force: Annotated[bool, Field(strict=True)] = False
    retry: Literal["failed"] | None = None
    most_jobs: PositiveInt = 1000
    save_state: Annotated[bool, Field(strict=True)] = False
    continued: Annotated[str | None, Field(alias="continue", min_length=1)] = None

    @field_validator("seeds", mode="plain")
    @classmethod
    def _countable(cls, seeds: Any) -> int | list[int] | None:
        if seeds is None or (type(seeds) is int and 1 <= seeds <= MOST):
            return seeds
        several = isinstance(seeds, list)
        parts = seeds if several else [seeds]
        text = ",".join(map(str, parts)) if {type(part) for part in parts} <= {int, str} else ""
        try:
            return list(parse_seeds(f"[{text}]" if several else text))
        except UserError as error:
            if "twice" in str(error):
                raise ValueError("no seed may appear twice") from None
            raise ValueError(
                f"should be a count from 1 to {MOST}, a range as in 1000-1019, or a list of seeds "
                "and ranges as in [0-9,20], between 0 and 2^32 - 1"
            ) from None

    def seed_list(self) -> tuple[int, ...]:
        """The seeds of the job, in order."""
        if self.seeds is None:
            raise UserError("seeds=null: these data have no end; say how many, as in seeds=10")
        return tuple(range(self.seeds) if isinstance(self.seeds, int) else self.seeds)


def top_keys() -> dict[str, Any]:
    """The fields of `TopLevel` by the keys that a user types."""
    return {field.alias or name: field for name, field in TopLevel.model_fields.items()}


BOUNDS = {
    "ge": "greater than or equal to",
    "gt": "greater than",
    "le": "less than or equal to",
    "lt": "less than",
}
UNKNOWN = {"unexpected_keyword_argument", "extra_forbidden"}
"""Types of pydantic's errors about keys that a component lacks."""


def refusal(error: ValidationError, group: str = "", component: Any = None) -> UserError:
    """The first error as `group.key=value: what is allowed`, with the limits of the component's field."""
    first = error.errors(include_url=False)[0]
    location = [str(part) for part in first["loc"] if isinstance(part, int) or part.isidentifier()]
    key = ".".join(([group] if group else []) + (location or list(map(str, first["loc"]))))
    message = _bounds(component, location) if BOUNDS.keys() & first.get("ctx", {}) else ""
    message = message or _sentence(first)
    if first["type"] in UNKNOWN and group:
        chosen = group.partition(".")[0]
        message = (
            f"no such key in the chosen {chosen}; if you did not type it, an experiment sets it"
        )
    if first["type"] in {"missing", *UNKNOWN}:
        return UserError(f"{key}: {message}")
    if first["type"] == "value_error" and not location:  # of several keys, or of none
        return UserError(message if message.startswith(f"{group}.") else f"{key}: {message}")
    return UserError(f"{key}={format_value(first['input'])}: {message}")


def _bounds(component: Any, location: list[str]) -> str:
    """All limits of a plain field in words; empty if it has none."""
    fields = getattr(component, "__pydantic_fields__", {})
    field = fields.get(location[0]) if len(location) == 1 else None
    limits = {
        name: f"{words} {getattr(limit, name)}"
        for name, words in BOUNDS.items()
        for limit in (field.metadata if field else [])
        if hasattr(limit, name)
    }  # the last of several limits is the narrowest: those of a type come before a field's own
    return f"should be {' and '.join(limits.values())}" if limits else ""


def _sentence(error: Any) -> str:
    if error["type"] in UNKNOWN:
        return "there is no such key"
    if error["type"] == "missing":
        return "a value is needed"
    return error["msg"].removeprefix("Value error, ").replace("Input should", "should")
