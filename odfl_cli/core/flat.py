"""Configurations as dotted keys."""

from collections.abc import Mapping
from typing import Any


def flatten(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested mappings as dotted keys: {"data": {"gamma": 1}} becomes {"data.gamma": 1}."""
    flat: dict[str, Any] = {}
    for key, value in config.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def interpolated(value: Any, flat: Mapping[str, Any]) -> Any:
    """What a plain reference such as ${data.items} stands for; any other value as it is."""
    if isinstance(value, str) and value.startswith("${") and value.endswith("}"):
        return flat.get(value[2:-1], value)
    return value
