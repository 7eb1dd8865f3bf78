"""summary.json as a validated record."""

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from odfl_cli.core.reading import SEAL, UnreadableError, is_intact

FORMAT = 1  # the version of the format of summary.json
SUMMARY, FAILURE = "summary.json", "failed.json"
CUMULATIVE = ("regret", "static_regret", "expected_static_regret", "dynamic_regret", "bound")
"""Columns of sums over rounds; readers of results add their averages, avg_…."""

Seeds = tuple[int, ...]


class NewerError(UnreadableError):
    """A summary in a format that this version does not know."""


@dataclass(frozen=True)
class Summary:
    """The results of a run."""

    seeds: Seeds
    rounds: int
    final: Mapping[str, Mapping[int, float]]  # column → seed → value after the last round
    files: Mapping[str, Mapping[str, Any]]  # name → bytes, sha256, odfl: as in `file_record`
    content: Mapping[str, Any] = field(repr=False)  # all of it, as it was read

    @classmethod
    def parse(cls, content: Mapping[str, Any]) -> "Summary":
        """Validates a record; raises an UnreadableError that says what is wrong."""
        number = content.get("format", 0)
        if isinstance(number, int) and number > FORMAT:
            raise NewerError(
                f"{SUMMARY} has format {number}, this version of odfl reads up to {FORMAT}"
            )
        for name, shape in SHAPES.items():
            if (name in content or name in REQUIRED) and not fits(content.get(name), shape):
                raise UnreadableError(f"{SUMMARY}: {name} is not what odfl writes")
        if SEAL in content and not is_intact(dict(content)):  # up to 0.2.0 there is none
            raise UnreadableError(f"{SUMMARY}: it is not what was written")
        seeds = tuple(content["seeds"])
        lengths = {len(column["per_seed"]) for column in content["final"].values()}
        if not seeds or len(set(seeds)) < len(seeds) or lengths - {len(seeds)}:
            raise UnreadableError(f"{SUMMARY}: final should have one value for each seed")
        if content["rounds"] < 1 or "algo" not in content["choices"]:
            raise UnreadableError(f"{SUMMARY}: there is no round, or no algorithm")
        final = {
            name: dict(zip(seeds, column["per_seed"], strict=True))
            for name, column in content["final"].items()
        }
        final |= {
            f"avg_{name}": {seed: value / content["rounds"] for seed, value in final[name].items()}
            for name in CUMULATIVE
            if name in final
        }
        return cls(seeds, content["rounds"], final, content["files"], content)

    def finals(self, column: str, seeds: Iterable[int]) -> list[float]:
        """The final values of a column for those of the seeds that exist."""
        values = self.final.get(column, {})
        return [values[seed] for seed in seeds if seed in values]


def seed_file(seed: int) -> str:
    """The name of a seed's CSV."""
    return f"seed-{seed}.csv"


def state_file(seed: int) -> str:
    """The name of the file with the state after a seed's last round."""
    return f"seed-{seed}.state.safetensors"


def file_record(content: bytes, version: str) -> dict[str, Any]:
    """The entry of a file in summary.json."""
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest(), "odfl": version}


def versions_of(record: Mapping[str, Any]) -> tuple[str, ...]:
    """The versions of odfl in a summary or in the record of a failure."""
    files = record.get("files")
    entries = files.values() if isinstance(files, dict) else [record.get("versions")]
    found = {str(entry["odfl"]) for entry in entries if isinstance(entry, dict) and "odfl" in entry}
    return tuple(sorted(found))


def fits(value: Any, shape: Any) -> bool:
    """True if a JSON value has a shape.

    A shape is a type (float: any finite number; object: anything), None, a list of one shape, a
    mapping {str: shape} with any keys, one with the keys it needs, or a tuple of alternatives.
    """
    if isinstance(shape, tuple):
        return any(fits(value, one) for one in shape)
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(child, shape[0]) for child in value)
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return False
        children = dict.fromkeys(value, shape[str]) if str in shape else shape
        return all(key in value and fits(value[key], child) for key, child in children.items())
    if shape is float:
        return type(value) in (int, float) and math.isfinite(value)
    return value is None if shape is None else shape is object or type(value) is shape


REQUIRED = {
    "choices": {str: str},
    "config": dict,
    "seeds": [int],
    "rounds": int,
    "final": {str: {"per_seed": [float]}},
    "files": {str: dict},
}
OPTIONAL = {
    "asked": [int],
    "marks": [int],
    "versions": {str: str},
    "overrides": [str],
    "command": [str],
    "sources": {str: str},
    "margin": (None, {"epsilon": [float], "share": [float], "c0": float, "beta": float}),
    "oracle_share": (None, float),
}
SHAPES: dict[str, Any] = {**REQUIRED, **OPTIONAL}
"""The entries of summary.json; failed.json has some of them."""
