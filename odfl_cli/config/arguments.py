"""Converts Python arguments to overrides of the command line, and lists of values to a grid."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from itertools import islice, product
from os import PathLike
from typing import Any

import numpy as np
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, Quote, QuotedString
from hydra.errors import HydraException

from odfl_cli.config.bookkeeping import BOOKKEEPING
from odfl_cli.config.directory import conf_directory, is_tuning
from odfl_cli.config.explain import explain
from odfl_cli.config.schema import top_keys
from odfl_cli.core.errors import UserError
from odfl_cli.core.seeds import MOST, format_seeds
from odfl_cli.core.text import did_you_mean, format_value


@dataclass(frozen=True)
class Setting:
    """Overrides, and objects that replace groups: a cell of a grid or a part of one."""

    overrides: tuple[str, ...] = ()
    objects: Mapping[str, Any] = field(default_factory=dict)

    def __add__(self, other: "Setting") -> "Setting":
        return Setting(self.overrides + other.overrides, {**self.objects, **other.objects})


Axes = dict[str, list[Setting]]
"""Key → its alternatives: one if it is fixed, several if it is swept."""


def grid(axes: Axes) -> list[Setting]:
    """Every combination of the alternatives; the last key varies fastest."""
    return [reduce(Setting.__add__, cell, Setting()) for cell in product(*axes.values())]


def override_axes(overrides: Iterable[str]) -> Axes:
    """The axes of `key=value` and `key=value,value`; the last occurrence of a key counts."""
    texts = list(overrides)
    for text in texts:
        if not isinstance(text, str):
            raise UserError(f"{text!r}: overrides are texts such as 'data.gamma=0.5'")
        if text.startswith("-"):
            raise UserError(f"{text}: flags are for the command line; sweep(...) runs several jobs")
    try:
        axes = word_axes(OverridesParser.create().parse_overrides(texts))
        return {key: [Setting(words) for words in axis] for key, axis in axes.items()}
    except HydraException as error:
        raise UserError(explain(error, texts)) from error


def keyword_axes(keywords: Mapping[str, Any], swept: bool) -> Axes:
    """The axes of keyword arguments; if `swept`, a list holds alternatives."""
    _check_names(keywords)
    axes: Axes = {}
    for key, value in keywords.items():
        axes |= _Reader(swept and key != "seeds").axes(key, value)
    return axes


def quote(key: str, value: Any) -> str:
    """A value in the grammar of Hydra's overrides."""
    value = value.tolist() if hasattr(value, "tolist") else value  # numpy's scalars and arrays
    if value is None or isinstance(value, bool):
        return format_value(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str | PathLike):
        return QuotedString(str(value), Quote.single).with_quotes()
    if isinstance(value, list | tuple | range):
        return f"[{','.join(quote(key, inner) for inner in value)}]"
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{name}:{quote(key, value[name])}' for name in value)}}}"
    raise UserError(f"{key}: {type(value).__name__} is no value of a key; give a number or a text")


def group_names() -> list[str]:
    """The groups of the configuration that a user chooses from."""
    folders = sorted(path.name for path in conf_directory().iterdir() if path.is_dir())
    return [name for name in folders if name != "hydra" and not is_tuning(name)]


class _Reader:
    """Reads the keyword arguments of a sweep or of a single job."""

    def __init__(self, swept: bool) -> None:
        self._swept, self._groups = swept, group_names()

    def axes(self, key: str, value: Any) -> Axes:
        """The axes of one argument; every key of a mapping has its own."""
        if not isinstance(value, Mapping):
            return {key: self._settings(key, value)}
        axes: Axes = {}
        for name, inner in value.items():
            axes |= self.axes(f"{key}.{name}", inner)
        return axes

    def _settings(self, key: str, value: Any) -> list[Setting]:
        """The alternatives of a value."""
        if self._swept and _is_list(value):
            if not len(value):
                raise UserError(f"{key}=[]: an empty list leaves nothing to run")
            return [setting for inner in value for setting in self._settings(key, inner)]
        if isinstance(value, Mapping):
            return grid(self.axes(key, value))
        if key not in self._groups:
            return [Setting((f"{key}={quote(key, value)}",))]
        if isinstance(value, tuple):
            return self._choice_with_keys(key, value)
        if _is_list(value):
            raise UserError(f"{key}: several values make a sweep; use sweep(...)")
        if value is None or isinstance(value, str | int | float):
            return override_axes([f"{key}={'null' if value is None else value}"])[key]
        return [Setting(objects={key: value})]

    def _choice_with_keys(self, group: str, value: tuple[Any, ...]) -> list[Setting]:
        match value:
            case (str() as choice, Mapping() as keys):
                chosen = Setting((f"{group}={choice}",))
                return [chosen + setting for setting in grid(self.axes(group, keys))]
        raise UserError(
            f"{group}: a tuple is a choice and its keys, such as ('pf_ogd', {{'eta': 0.1}})"
        )


def word_axes(overrides: Iterable[Override]) -> dict[str, list[tuple[str, ...]]]:
    """Key → its alternatives, each as words; the last occurrence of a key counts.

    Values tagged `zip` (or `zip_…` for several groups) advance together and form one axis:
    `data.items=tag(zip,choice(5,80)) horizon.rounds=tag(zip,choice(1000,5000))` are two jobs.
    """
    axes: dict[str, list[tuple[str, ...]]] = {}
    for key, override in {one.get_key_element(): one for one in overrides}.items():
        words: list[tuple[str, ...]] = [(word,) for word in alternatives(override)]
        tag = zip_tag(override)
        before = axes.get(tag, []) if tag else []
        if before and len(before) != len(words):
            raise UserError(
                f"{override.input_line}: the other values tagged {tag} are {len(before)}, "
                f"these are {len(words)}"
            )
        joined = (
            [first + more for first, more in zip(before, words, strict=True)] if before else words
        )
        axes[tag or key] = joined
    return axes


def zip_tag(override: Override) -> str:
    """The tag `zip` or `zip_…` of an override; empty if it has none."""
    tags = getattr(override.value(), "tags", ())
    return next((tag for tag in sorted(tags) if tag == "zip" or tag.startswith("zip_")), "")


def alternatives(override: Override) -> list[str]:
    """`key=value` for every value of an override."""
    key = override.get_key_element()
    if not override.is_sweep_override():
        return [f"{key}={override.get_value_element_as_str()}"]
    if key == "seeds":
        _check_swept_seeds(override)
    if not override.is_discrete_sweep():
        raise UserError(f"{override.input_line}: a grid needs values, such as {key}=1,2")
    try:
        return [f"{key}={value}" for value in override.sweep_string_iterator()]
    except (ValueError, ArithmeticError) as error:
        raise UserError(f"{override.input_line}: {error}") from error


def _check_swept_seeds(override: Override) -> None:
    """Raises for `seeds=range(1000,1003)`, `seeds=7,9` and `seeds=0-9,20`, which are several jobs."""
    values = [] if override.is_interval_sweep() else list(islice(override.sweep_iterator(), MOST))
    if values and all(isinstance(value, list) for value in values):
        return  # such as [0],[1]: jobs that share a directory
    counts = [value for value in values if isinstance(value, int)]
    whole = len(counts) == len(values)
    named = format_seeds(counts) if whole else re.sub(r"[\[\]' ]", "", str(values))
    spelling = named if named.count(",") == 0 else f"[{named}]"
    raise UserError(
        f"{override.input_line}: this is a job for each value; to name the seeds of every job, "
        f"write seeds={spelling or '0-9'}"
    )


def _check_names(keywords: Iterable[str]) -> None:
    known = [*group_names(), *(key for key in top_keys() if key not in BOOKKEEPING)]
    for name in keywords:
        if name not in known:
            hint = did_you_mean(name, known)
            raise UserError(f"{name}: there is no such group or key; {hint}")


def _is_list(value: Any) -> bool:
    """True if a sweep reads the value as alternatives; a tuple is one value."""
    return isinstance(value, list | range | np.ndarray)
