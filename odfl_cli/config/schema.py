"""The top of the configuration, and one clear line for every value that is refused."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import NonNegative, Positive, PositiveInt
from odfl_cli.core.text import format_value

MOST_SEEDS = 1_000_000


class TopLevel(BaseModel):
    """The keys beside the groups."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    theta_radius: Positive
    kappa: NonNegative = 0.0
    seeds: int | list[int] | None  # None: all that the data have
    outputs: Annotated[str, Field(min_length=1)]
    sweep: Annotated[str, Field(pattern=r"^\w[\w.-]*$")]
    objective: Annotated[str, Field(min_length=1)] = "avg_cost"
    force: Annotated[bool, Field(strict=True)] = False
    retry: Literal["failed"] | None = None
    most_jobs: PositiveInt = 1000
    save_weights: Annotated[bool, Field(strict=True)] = False

    @field_validator("seeds", mode="plain")
    @classmethod
    def _countable(cls, seeds: Any) -> int | list[int] | None:
        if seeds is None or (type(seeds) is int and 1 <= seeds <= MOST_SEEDS):
            return seeds
        if not (isinstance(seeds, list) and seeds and all(_is_seed(seed) for seed in seeds)):
            raise ValueError(
                f"should be a count from 1 to {MOST_SEEDS} or a list of seeds between 0 and 2^32 - 1"
            )
        if len(set(seeds)) < len(seeds):
            raise ValueError("no seed may appear twice")
        return seeds

    def seed_list(self) -> tuple[int, ...]:
        """The seeds of the job, in order."""
        if self.seeds is None:
            raise UserError("seeds=null: these data have no end; say how many, as in seeds=10")
        return tuple(range(self.seeds) if isinstance(self.seeds, int) else self.seeds)


BOUNDS = {
    "ge": "greater than or equal to",
    "gt": "greater than",
    "le": "less than or equal to",
    "lt": "less than",
}


def refusal(error: ValidationError, group: str = "", component: Any = None) -> UserError:
    """The first thing wrong as `group.key=value: what is allowed`, by the component's fields."""
    first = error.errors(include_url=False)[0]
    location = [str(part) for part in first["loc"] if isinstance(part, int) or part.isidentifier()]
    key = ".".join(([group] if group else []) + location)
    message = _bounds(component, location) if BOUNDS.keys() & first.get("ctx", {}) else ""
    message = message or _sentence(first)
    if first["type"] in {"missing", "unexpected_keyword_argument", "extra_forbidden"}:
        return UserError(f"{key}: {message}")
    if first["type"] == "value_error" and not location:  # of several keys, or of none
        return UserError(message if message.startswith(f"{group}.") else f"{key}: {message}")
    return UserError(f"{key}={format_value(first['input'])}: {message}")


def _bounds(component: Any, location: list[str]) -> str:
    """Both ends of a range, where a plain field has two."""
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
    if error["type"] in {"unexpected_keyword_argument", "extra_forbidden"}:
        return "there is no such key"
    if error["type"] == "missing":
        return "a value is needed"
    return error["msg"].removeprefix("Value error, ").replace("Input should", "should")


def _is_seed(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**32
