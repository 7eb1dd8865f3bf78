"""Hydra's and OmegaConf's complaints, each as one line that says what to do."""

import difflib
import re
from collections.abc import Iterator
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from odfl_cli.confdir import conf_directory

COMPLAINTS = (HydraException, OmegaConfBaseException)


def explain(error: Exception, arguments: list[str]) -> str:
    """One line for a configuration that could not be composed."""
    text = " ".join(str(part) for part in (error, error.__cause__) if part)
    if isinstance(error, MissingConfigException):
        return _unknown_choice(text)
    if isinstance(error, OverrideParseException):
        return f"{error.override}: not of the form key=value ({str(error).splitlines()[0]})"
    if ambiguous := re.search(r"Ambiguous value for argument '([^']+)'", text):
        return f"{ambiguous[1]}: several values make a sweep; add -m"
    if key := re.search(r"Could not override '([^']+)'", text):
        return _unknown_key(key[1], text, arguments)
    return " ".join(str(error).split())


def group_given_a_value(arguments: list[str]) -> str | None:
    """`horizon=1000` or `algo=null`, over which Hydra stumbles: a line that says what was meant."""
    groups = {path.name for path in conf_directory().iterdir() if path.is_dir()}
    for argument in arguments:
        found = re.fullmatch(r"(?i)(\w+)=([-+.\deE]+|null|true|false|nan|inf)", argument)
        if found and found[1] in groups and argument != "experiment=null":
            return _no_such_choice(found[1], found[2], _choices(found[1]))
    return None


def _choices(group: str) -> list[str]:
    return sorted(path.stem for path in (conf_directory() / group).glob("*.yaml"))


def _no_such_choice(group: str, choice: str, choices: list[str]) -> str:
    hint = " (did you mean horizon.rounds?)" if group == "horizon" and choice.isdigit() else ""
    return f"{group}={choice}: no such choice{hint}; there are {', '.join(choices)}"


def _unknown_choice(text: str) -> str:
    """`Could not find 'algo/nope'` with the choices that there are."""
    found = re.search(r"Could not find '([^']+)/([^'/]*)'", text)
    if not found:
        return " ".join(text.split())
    group, choice = found.groups()
    choices = re.search(
        r"Available options in [^:]*:\s*(.*?)\s*(?:Config search path|$)", text, re.S
    )
    return _no_such_choice(group, choice, choices[1].split() if choices else _choices(group))


def _unknown_key(key: str, text: str, arguments: list[str]) -> str:
    known = list(_keys(_composed(arguments)))
    nearest = difflib.get_close_matches(key, known, n=1, cutoff=0.6)
    if key in known:  # a group given a value, or a value given a group
        return f"{key}: cannot be set like that; see odfl run --cfg job"
    leaf = {k.rsplit(".", 1)[-1]: k for k in known}
    nearest = nearest or [
        leaf[k] for k in difflib.get_close_matches(key.rsplit(".", 1)[-1], leaf, n=1, cutoff=0.6)
    ]
    hint = f"did you mean {nearest[0]}?" if nearest else "see odfl run --cfg job"
    return f"{key}: there is no such key; {hint}"


def _composed(arguments: list[str]) -> DictConfig:
    """The configuration with the user's choices of groups and none of their values."""
    groups = [a for a in arguments if re.fullmatch(r"[\w/]+=[A-Za-z_]\w*", a)]
    GlobalHydra.instance().clear()  # the failed application's; nothing runs after an explanation
    for choices in (groups, []):
        try:
            with initialize_config_dir(str(conf_directory()), version_base="1.3"):
                return compose("config", overrides=choices)
        except COMPLAINTS:
            continue
    return OmegaConf.create()


def _keys(node: Any, prefix: str = "") -> Iterator[str]:
    for key in node:
        path = f"{prefix}{key}"
        yield path
        unknown = OmegaConf.is_interpolation(node, key) or OmegaConf.is_missing(node, key)
        child = None if unknown else node[key]
        if isinstance(child, DictConfig):
            yield from _keys(child, path + ".")
