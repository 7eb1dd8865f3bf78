"""summary.json as a checked record: the one place that knows what it holds."""

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from odfl_cli.core.reading import SEAL, UnreadableError, is_intact

FORMAT = 1
"""The format of summary.json; newer versions may write a higher number."""
SUMMARY, FAILURE = "summary.json", "failed.json"
CUMULATIVE = ("regret", "static_regret", "expected_static_regret", "dynamic_regret", "bound")
"""Columns that accumulate: each has an average per round, avg_…, for whoever reads results."""

Seeds = tuple[int, ...]


class NewerError(UnreadableError):
    """A summary in a format that this version does not know."""


@dataclass(frozen=True)
class Summary:
    """What a run wrote down at its end."""

    seeds: Seeds
    rounds: int
    final: Mapping[str, Mapping[int, float]]  # column → seed → value after the last round
    files: Mapping[str, Mapping[str, Any]]  # name → bytes, sha256, odfl: as `file_record` makes it
    content: Mapping[str, Any] = field(repr=False)  # all of it, as it was read

    @classmethod
    def parse(cls, content: Mapping[str, Any]) -> "Summary":
        """The record, or an UnreadableError that names what is wrong."""
        number = content.get("format", 0)
        if isinstance(number, int) and number > FORMAT:
            raise NewerError(
                f"{SUMMARY} has format {number}, this version of odfl reads up to {FORMAT}"
            )
        for name, (holds, words) in {**REQUIRED, **OPTIONAL}.items():
            if (name in content or name in REQUIRED) and not holds(content.get(name)):
                raise UnreadableError(f"{SUMMARY}: {name} should be {words}")
        if SEAL in content and not is_intact(dict(content)):  # up to 0.2.0 there is none
            raise UnreadableError(f"{SUMMARY}: it is not what was written")
        seeds = tuple(content["seeds"])
        if any(len(column["per_seed"]) != len(seeds) for column in content["final"].values()):
            raise UnreadableError(f"{SUMMARY}: final should have one value for each seed")
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
        """The column after the last round, for those of the seeds that there are."""
        values = self.final.get(column, {})
        return [values[seed] for seed in seeds if seed in values]


def seed_file(seed: int) -> str:
    """The name of a seed's CSV."""
    return f"seed-{seed}.csv"


def weights_file(seed: int) -> str:
    """The name of the file with the weights that a seed has learnt."""
    return f"seed-{seed}.safetensors"


def file_record(content: bytes, version: str) -> dict[str, Any]:
    """How summary.json remembers a file."""
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest(), "odfl": version}


def versions_of(record: Mapping[str, Any]) -> tuple[str, ...]:
    """The versions of odfl in a summary's files, or in the record of a failure."""
    files = record.get("files")
    entries = files.values() if isinstance(files, dict) else [record.get("versions")]
    found = {str(entry["odfl"]) for entry in entries if isinstance(entry, dict) and "odfl" in entry}
    return tuple(sorted(found))


def is_mapping_to(kind: type, value: Any) -> bool:
    """Whether it is a mapping of texts to values of one kind."""
    return isinstance(value, dict) and all(isinstance(child, kind) for child in value.values())


def is_list_of(kind: type, value: Any) -> bool:
    """Whether it is a list of values of one kind; true and false are no numbers."""
    return isinstance(value, list) and all(type(child) is kind for child in value)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _are_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_number, value))


def _is_margin(value: Any) -> bool:
    return value is None or (
        isinstance(value, dict)
        and all(_are_numbers(value.get(name)) for name in ("epsilon", "share"))
        and len(value["epsilon"]) == len(value["share"])
        and all(_is_number(value.get(name)) for name in ("c0", "beta"))
    )


Rule = tuple[Callable[[Any], bool], str]
REQUIRED: dict[str, Rule] = {
    "choices": (
        lambda value: is_mapping_to(str, value) and "algo" in value,
        "the choice of every group, algo among them",
    ),
    "config": (lambda value: isinstance(value, dict), "the configuration"),
    "seeds": (
        lambda value: bool(value) and is_list_of(int, value) and len(set(value)) == len(value),
        "a list of different whole numbers",
    ),
    "rounds": (lambda value: type(value) is int and value >= 1, "a whole number above 0"),
    "final": (
        lambda value: (
            is_mapping_to(dict, value)
            and all(_are_numbers(column.get("per_seed")) for column in value.values())
        ),
        "the numbers per seed of every column",
    ),
    "files": (lambda value: is_mapping_to(dict, value), "a record of every file"),
}
OPTIONAL: dict[str, Rule] = {
    "marks": (lambda value: is_list_of(int, value), "a list of rounds"),
    "versions": (lambda value: is_mapping_to(str, value), "a version for every name"),
    "overrides": (lambda value: is_list_of(str, value), "a list of texts"),
    "command": (lambda value: is_list_of(str, value), "a list of texts"),
    "sources": (lambda value: is_mapping_to(str, value), "a checksum for every module"),
    "margin": (_is_margin, "epsilon, share, c0 and beta"),
    "oracle_share": (lambda value: value is None or _is_number(value), "a number"),
}
