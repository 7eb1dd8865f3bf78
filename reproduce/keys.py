"""The tables of all choices and keys, from the files in conf/ and the classes that they name."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import yaml
from hydra.utils import get_class

from odfl_cli.config.schema import top_keys

CONF = Path(__file__).parents[1] / "conf"
KEYED = (
    "algo", "data", "polytope", "regularizer", "predictor", "oracle", "horizon", "metrics", "engine",
    "feedback", "until", "tune",
)  # fmt: skip
GROUPS = (*KEYED, "experiment", "hydra/launcher", "hydra/sweeper", "hydra/sweeper/sampler")
ELSEWHERE = {"algo": "The choices have a page of their own: [Algorithms](algorithms.md)."}
COMMENT = re.compile(r"^(\w+):[^#\n]*#\s*(.*)$", re.MULTILINE)
TOP_LEVEL = re.compile(r"^# (.*)\n(\w+): (.*)$", re.MULTILINE)
HEADING = "| key | default | allowed | meaning |\n|---|---|---|---|"
LIMITS = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}
TYPES = {bool: "true or false", int: "integer", float: "number", str: "text", NoneType: "null"}
LONGEST = 120
"""The most characters of a default in a table."""
MEANINGS = {  # of keys that explain themselves where they are set
    "c_alpha": "c_α, the scale of the smoothing α",
    "c_eta": "c_η, the scale of the rate η",
    "eta": "η, the step size",
    "alpha": "α, the weight of the regulariser in smoothed decisions",
    "experts": "number of directions that weights are kept for",
    "shortest": "number of rounds between two restarts of the first copy",
    "rho": "ρ, the correlation of neighbouring items",
    "noise_std": "standard deviation of the noise ε_t on the costs",
    "columns": "names of the columns in the file",
    "dimension": "d, the length of a decision",
    "file": "the YAML, NPZ or CSV file that states the set",
    "upper": "upper bounds of the decision: one number, or one per item",
    "capacity": "the weight that may be packed",
    "rows": "number of rows of nodes of the grid",
    "width": "number of units of a hidden layer",
    "bias": "whether layers have a bias",
    "lr": "step size of the descent",
    "steps": "number of steps of the descent",
    "beta1": "decay of the mean of the gradients",
    "beta2": "decay of the mean of the squared gradients",
    "epsilon": "number added to the root of the mean of the squared gradients",
    "directions": "number of directions of the grid over Θ",
    "radii": "number of radii of the grid over Θ",
    "device": "torch's device: cpu, cuda, cuda:1, mps, …",
}


class Key(NamedTuple):
    """One key of one or several choices."""

    name: str
    allowed: str
    meaning: str


def keys() -> str:
    """Two Markdown tables per group: its choices, and their keys."""
    parts = [f"## Beside the groups\n\n{_top_level()}"]
    for group in GROUPS:
        rows = [f"| `{name}` | {escape_cell(words)} |" for name, words in choices(group).items()]
        listed = "\n".join([f"| `{group}=` | what it is |\n|---|---|", *rows])
        parts.append(f"## `{group}`\n\n{ELSEWHERE.get(group, listed)}")
        if group in KEYED:
            parts.append(_table(group))
    return "\n\n".join(parts)


def choices(group: str) -> dict[str, str]:
    """The choices of a group with the first comment of their files."""
    named = {}
    for file in sorted((CONF / group).glob("*.yaml")):
        comments = (line[2:] for line in file.read_text().splitlines() if line.startswith("# "))
        named[file.stem] = next((words for words in comments if words[0] != "@"), "").rstrip(";")
    return named


def variants() -> dict[str, str]:
    """The choices of algo in conf/variants.yaml with the comments beside their names."""
    return dict(re.findall(r"^(\w+): +# (.*)$", (CONF / "variants.yaml").read_text(), re.M))


def _top_level() -> str:
    """The keys of conf/config.yaml, each explained by the line above it."""
    text = (CONF / "config.yaml").read_text()
    rows = [HEADING]
    for meaning, name, default in TOP_LEVEL.findall(text):
        field = top_keys()[name]
        allowed = _allowed_values(field.annotation, field.metadata)
        rows.append(f"| `{name}` | `{default}` | {allowed} | {escape_cell(meaning)} |")
    return "\n".join(rows)


def _table(group: str) -> str:
    files = sorted((CONF / group).glob("*.yaml"))
    found = [(key, file.stem, default) for file in files for key, default in _keys(group, file)]
    defaults: dict[Key, dict[str, str]] = {}
    for key, choice, default in sorted(found, key=lambda one: not one[0].meaning):
        same = [other for other in defaults if other.name == key.name]
        explained = key if key.meaning or not same else same[0]
        defaults.setdefault(explained, {})[choice] = default
    rows = [HEADING]
    for key, values in defaults.items():
        shown = ", ".join(
            f"{default} ({', '.join(_choices(values, default))})" for default in _unique(values)
        )
        rows.append(f"| `{key.name}` | {shown} | {key.allowed} | {escape_cell(key.meaning)} |")
    return "\n".join(rows)


def escape_cell(text: str) -> str:
    """The text with the separator of cells escaped."""
    return text.replace("|", "\\|")


def _keys(group: str, file: Path) -> Iterator[tuple[Key, str]]:
    """The keys of one choice with their defaults; keys of parts within it are left out."""
    text = file.read_text()
    content, comments = yaml.safe_load(text), dict(COMMENT.findall(text))
    target = content.get("_target_") or _inherited_target(file, content)
    fields = getattr(get_class(target), "__pydantic_fields__", {})
    for name, value in content.items():
        if name in ("_target_", "defaults") or (isinstance(value, dict) and _is_part(value)):
            continue
        allowed = (
            _allowed_values(fields[name].annotation, fields[name].metadata)
            if name in fields
            else ""
        )
        meaning = comments.get(name) or MEANINGS.get(name, "")
        shown = _format_default(value)
        default = shown if len(shown) < LONGEST else "as in the file"
        yield Key(f"{group}.{name}", allowed, meaning), default


def _inherited_target(file: Path, content: dict[str, Any]) -> str:
    """The class of the choice that this one is based on."""
    base = file.with_name(f"{content['defaults'][0]}.yaml")
    return str(yaml.safe_load(base.read_text())["_target_"])


def _is_part(value: dict[str, Any]) -> bool:
    return any(key.startswith("_") for key in value)


def _allowed_values(annotation: Any, metadata: list[Any]) -> str:
    """The allowed values of a field in words."""
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        return _allowed_values(inner, [*more, *metadata])
    if get_origin(annotation) in (Union, UnionType):
        return " or ".join(filter(None, (_allowed_values(one, []) for one in get_args(annotation))))
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(annotation))
    if get_origin(annotation) in (tuple, list):
        return "list"
    return " ".join([TYPES.get(annotation, ""), ", ".join(_limits(metadata))]).strip()


LARGEST = 2**32 - 1
"""The bound of every integer, which is not listed."""


def _limits(metadata: list[Any]) -> Iterator[str]:
    """Comparisons among a field's annotations, such as ≥ 0; those of a Field lie one level deeper."""
    for one in metadata:
        for name, sign in LIMITS.items():
            if (limit := getattr(one, name, None)) is not None and limit != LARGEST:
                yield f"{sign} {limit:g}"
        yield from _limits(getattr(one, "metadata", []))


def _unique(defaults: dict[str, str]) -> list[str]:
    return list(dict.fromkeys(defaults.values()))


def _choices(defaults: dict[str, str], default: str) -> list[str]:
    return [f"`{choice}`" for choice, value in defaults.items() if value == default]


def _format_default(value: Any) -> str:
    """A default as it is typed."""
    if value == "???":
        return "required"
    if isinstance(value, dict) and all(isinstance(x, dict) and _is_part(x) for x in value.values()):
        return ", ".join(f"`{name}`" for name in value)
    return f"`{value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}`"
