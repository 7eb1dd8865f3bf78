"""Safe readers of JSON and YAML: regular files only, limited in size and depth."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from odfl_cli.core.errors import UserError
from odfl_cli.core.files import LARGEST, read_regular

JSON_LARGEST = LARGEST
YAML_LARGEST = 1 << 17
DEEPEST = 50
"""Levels of lists and mappings, so that no reader recurses too deeply; configurations have five."""
MOST_DIGITS = 18
"""The largest number of digits of an integer; longer ones are read as floats."""
FAST_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class UnreadableError(UserError):
    """A file whose content is not as expected; the message says why, without the path."""


def read_json(path: Path) -> dict[str, Any]:
    """Reads a JSON object; raises a FileNotFoundError if there is no file."""
    content = _read(path, JSON_LARGEST)
    try:
        value = json.loads(content, parse_int=_number)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"not JSON ({_one_line(error)})") from None
    if not isinstance(value, dict):
        raise UnreadableError("it should hold a JSON object")
    _check_depth(value)
    return value


def as_read(content: dict[str, Any]) -> dict[str, Any]:
    """The record as `read_json` returns it after `write_json`."""
    return json.loads(json.dumps(content), parse_int=_number)


def read_yaml(path: Path) -> dict[str, Any]:
    """Reads a YAML mapping as JSON types; aliases are refused, as they can multiply the content."""
    content, depth = _read(path, YAML_LARGEST), 0
    try:
        for event in yaml.parse(content, FAST_LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent) or depth > DEEPEST:
                raise UnreadableError("it has aliases or nests too deeply")
        value = _plain(yaml.load(content, FAST_LOADER))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UnreadableError(f"not YAML ({_one_line(error)})") from None
    if not isinstance(value, dict):
        raise UnreadableError("it should hold a mapping")
    return value


def _read(path: Path, largest: int) -> bytes:
    try:
        return read_regular(path, largest)
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(path) from None
    except OSError as error:
        raise UnreadableError(error.strerror or str(error)) from None
    except UserError as error:
        raise UnreadableError(str(error).removeprefix(f"{os.fspath(path)}: ")) from None


def _number(text: str) -> int | float:
    return int(text) if len(text) <= MOST_DIGITS else float(text)


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(DEEPEST):
        below = [node.values() if isinstance(node, dict) else node for node in level]
        level = [child for node in below for child in node if isinstance(child, dict | list)]
        if not level:
            return
    raise UnreadableError(f"it nests deeper than {DEEPEST} levels")


def _plain(value: Any) -> Any:
    """The value with YAML's dates, sets and bytes as text."""
    if isinstance(value, dict):
        return {str(key): _plain(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_plain(child) for child in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) < 10**MOST_DIGITS else str(value)
    return value if value is None or isinstance(value, bool | float | str) else str(value)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


SEAL = "seal"


def seal(record: dict[str, Any]) -> dict[str, Any]:
    """The record with its checksum as the last entry."""
    return {**record, SEAL: checksum(record)}


def is_intact(record: dict[str, Any]) -> bool:
    """True if the record has a seal that matches its content."""
    return record.get(SEAL) == checksum(record)


def checksum(record: dict[str, Any]) -> str:
    """The SHA-256 of all entries but the seal, independent of their order and layout."""
    content = {name: value for name, value in record.items() if name != SEAL}
    canonical = json.dumps(as_read(content), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def flatten(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested mappings as dotted keys: {"data": {"gamma": 1}} becomes {"data.gamma": 1}."""
    flat: dict[str, Any] = {}
    for key, value in config.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def follow_reference(value: Any, flat: Mapping[str, Any]) -> Any:
    """The value of a plain reference such as ${data.items}; any other value unchanged."""
    if isinstance(value, str) and value.startswith("${") and value.endswith("}"):
        return flat.get(value[2:-1], value)
    return value
