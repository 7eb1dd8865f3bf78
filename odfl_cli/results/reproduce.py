"""The command that repeats a run: its recorded choices and values, less what is the default."""

import math
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from odfl_cli.config.directory import TUNED_BEFORE, conf_directory, is_tuning
from odfl_cli.core.flat import flatten, interpolated
from odfl_cli.results.catalogue import Entry

UNQUOTED = re.compile(r"[A-Za-z_/.][\w./@%+-]*")
TRAILING_BACKSLASHES = re.compile(r"\\+\Z")
ITEMS = "data.items"
NOT_WORDS = {"null", "true", "false", "nan", "inf"}


def command(entry: Entry) -> str:
    """`odfl run …`, ready to paste."""
    own = [os.path.relpath(path) for path in entry.config_directories]
    flags = [word for path in own for word in ("--config-dir", path)]
    return shlex.join(["odfl", "run", *flags, *overrides(entry)])


def overrides(entry: Entry) -> list[str]:
    """algo=…, the other choices that are not the default, then the values that are not."""
    directories = [conf_directory(), *entry.config_directories]
    recorded = flatten(entry.config) | _seeds(entry)
    defaults = _default_choices(directories[0], entry.choices)
    choices = {
        group: choice
        for group, choice in entry.choices.items()
        if group not in ("algo", "experiment", *TUNED_BEFORE) and choice != defaults.get(group)
    }
    base = _base(directories, {**defaults, **entry.choices})
    return [
        f"algo={entry.algorithm}",
        *(f"{group}={c}" if group in defaults else f"+{group}={c}" for group, c in choices.items()),
        *(word for word in _values(recorded, base) if word not in _measured(entry, base)),
    ]


def _values(recorded: Mapping[str, Any], base: Mapping[str, Any]) -> Iterator[str]:
    for key, value in recorded.items():
        if key not in base:
            yield f"++{key}={typed(value)}"
        elif not _same(interpolated(base[key], recorded), value):
            yield f"{key}={typed(value)}"
    yield from (f"~{key}" for key in base if "." in key and key not in recorded)


def _measured(entry: Entry, base: Mapping[str, Any]) -> set[str]:
    """What the summary learned from a file of rounds and nobody typed: its number of items."""
    asked = (entry.run.summary or {}).get("overrides") or []
    told = any(str(word).lstrip("+").startswith(f"{ITEMS}=") for word in asked)
    if told or base.get(ITEMS, 0) is not None:
        return set()
    return {f"{ITEMS}={typed(flatten(entry.config)[ITEMS])}"}


def typed(value: Any) -> str:
    """A value as Hydra's grammar wants it typed."""
    match value:
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case int() | float():
            return repr(value)
        case list():
            return f"[{','.join(map(typed, value))}]"
        case dict():
            return f"{{{','.join(f'{typed(key)}:{typed(inner)}' for key, inner in value.items())}}}"
    text = str(value)
    if UNQUOTED.fullmatch(text) and text.lower() not in NOT_WORDS:
        return text
    escaped = re.sub(r"(\\*)'", r"\1\1\\'", text)
    return f"'{re.sub(TRAILING_BACKSLASHES, lambda found: 2 * found[0], escaped)}'"


def _seeds(entry: Entry) -> dict[str, Any]:
    """Those that were computed, as a count where they are 0, 1, …"""
    seeds = (entry.run.summary or {}).get("seeds")
    if not isinstance(seeds, list) or not seeds:
        return {}
    return {"seeds": len(seeds) if seeds == list(range(len(seeds))) else seeds}


def _default_choices(conf: Path, chosen: Mapping[str, str]) -> dict[str, str]:
    """The defaults list of config.yaml, with ${algo} and the like filled in."""
    defaults = _yaml(conf / "config.yaml")["defaults"]
    pairs = [item for entry in defaults if isinstance(entry, dict) for item in entry.items()]
    named = {group.removeprefix("optional "): choice for group, choice in pairs}
    filled = {**named, **chosen}
    return {
        group: re.sub(r"\$\{(\w+)\}", lambda found: str(filled[found[1]]), str(choice))
        for group, choice in named.items()
        if choice is not None
    }


def _base(directories: list[Path], choices: Mapping[str, str]) -> dict[str, Any]:
    """The values that the choices bring with them, later groups over earlier ones."""
    base = flatten({k: v for k, v in _yaml(directories[0] / "config.yaml").items() if k != "hydra"})
    tuning_last = sorted(choices, key=is_tuning)
    for group in tuning_last:
        name, _, package = group.partition("@")
        files = [path / name / f"{choices[group]}.yaml" for path in directories]
        file = next((file for file in files if file.is_file()), None)
        if file is None or group == "experiment":
            continue
        header = re.search(r"^#\s*@package\s+(\S+)", file.read_text(), re.M)
        place = package or (header[1] if header else name.replace("/", "."))
        prefix = "" if place == "_global_" else f"{place}."
        base |= flatten(_yaml(file), prefix)
    return {key: value for key, value in base.items() if not key.endswith("defaults")}


def _yaml(file: Path) -> dict[str, Any]:
    return yaml.safe_load(file.read_text()) or {}


def _same(default: Any, recorded: Any) -> bool:
    if isinstance(default, str) and isinstance(recorded, float):  # PyYAML reads 1e-9 as text
        try:
            return math.isclose(float(default), recorded, rel_tol=0, abs_tol=0)
        except ValueError:
            return False
    return default == recorded and isinstance(default, bool) == isinstance(recorded, bool)
