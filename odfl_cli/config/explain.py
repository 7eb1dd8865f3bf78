"""Errors of Hydra, OmegaConf and YAML, each as one line that says what to do."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import MarkedYAMLError

from odfl_cli.config.command_line import (
    directories,
    no_such_choice,
    order_words,
    parse,
)
from odfl_cli.config.directory import choices_of, conf_directory
from odfl_cli.core.errors import UserError
from odfl_cli.core.text import nearest

COMPLAINTS = (HydraException, OmegaConfBaseException, MarkedYAMLError)


@contextmanager
def explain_errors(arguments: list[str]) -> Iterator[None]:
    """Turns what goes wrong while configurations are composed into a UserError of one line."""
    try:
        yield
    except (*COMPLAINTS, UnicodeDecodeError, RecursionError) as error:
        raise UserError(explain(error, arguments)) from error


def explain(error: Exception, arguments: list[str]) -> str:
    """One line for a configuration that could not be composed."""
    text = " ".join(str(part) for part in (error, error.__cause__) if part)
    if isinstance(error, MarkedYAMLError):
        return _explain_yaml(error)
    if isinstance(error, UnicodeDecodeError):
        return f"{_find_undecodable(arguments)}: not UTF-8 ({error.reason} at byte {error.start})"
    if isinstance(error, RecursionError):
        return "the configuration does not end: do the defaults of two files name each other?"
    if isinstance(error, MissingConfigException):
        return _unknown_choice(text, arguments)
    if isinstance(error, OverrideParseException):
        return f"{error.override}: not of the form key=value ({str(error).splitlines()[0]})"
    if ambiguous := re.search(r"Ambiguous value for argument '([^']+)'", text):
        return f"{ambiguous[1]}: several values make a sweep; add -m"
    if key := re.search(r"Could not override '([^']+)'", text):
        return _unknown_key(key[1], arguments)
    if missing := re.search(r"Missing mandatory value: (\S+)", text):
        return f"{missing[1]}: a value is needed"
    if lacking := re.search(r"Interpolation key '([^']+)' not found.* full_key: (\S+)", text, re.S):
        return _no_such_reference(lacking[2], lacking[1], arguments)
    if isinstance(error, OmegaConfBaseException) and (key := re.search(r"full_key: (\S+)", text)):
        return f"{_find_typed_key(key[1], arguments)}: {str(error).splitlines()[0]}"
    return " ".join(str(error).split())


def check_arguments(arguments: list[str]) -> list[str]:
    """The arguments in the order that Hydra takes; refuses what Hydra explains badly."""
    if unknown := parse(arguments)[1]:
        raise UserError(f"{unknown[0]}: no such flag; {_without_dashes(unknown[0], arguments)}")
    return order_words(arguments)


def _without_dashes(flag: str, arguments: list[str]) -> str:
    """How a setting that was typed as a flag is written."""
    name, _, value = flag.lstrip("-").partition("=")
    near = nearest(
        name,
        [key for key in _keys(compose_choices([])) if not key.startswith("hydra")],
        cutoff=0.8,
    )
    if not near:
        return "see odfl run --hydra-help"
    following = [*arguments[arguments.index(flag) + 1 :], ""][0]
    value = value or ("…" if not following or "=" in following else following)
    return f"settings have no dashes: {near[0]}={value}"


def _explain_yaml(error: MarkedYAMLError) -> str:
    """Which file, which line, what is wrong."""
    mark = error.problem_mark or error.context_mark
    where = f"{mark.name}, line {mark.line + 1}" if mark else "a configuration file"
    return f"{where}: not YAML ({error.problem or error.context})"


def _find_undecodable(arguments: list[str]) -> str:
    """The first configuration file that is not UTF-8."""
    for file in (path for folder in directories(arguments) for path in folder.rglob("*.yaml")):
        try:
            file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            return str(file)
    return "a configuration file"


def _unknown_choice(text: str, arguments: list[str]) -> str:
    """`Could not find 'algo/nope'` with the choices that there are."""
    found = re.search(r"Could not find '([^']+)/([^'/]*)'", text)
    if not found:
        return " ".join(text.split())
    group, choice = found.groups()
    return no_such_choice(group, choice, choices_of(group, directories(arguments)))


def _no_such_reference(key: str, named: str, arguments: list[str]) -> str:
    """A key that takes its value from one that another group's choice does not have."""
    group = key.partition(".")[0]
    files = {
        choice: conf_directory() / group / f"{choice}.yaml"
        for choice in choices_of(group, [conf_directory()])
    }
    others = [name for name, file in files.items() if f"${{{named}}}" not in file.read_text()]
    if len(others) == len(files):  # the user wrote it
        return f"{_find_typed_key(key, arguments)}: Interpolation key '{named}' not found"
    return f"{key}: it needs {named}, which is not there; choose {group}={' or '.join(others)}"


def _find_typed_key(key: str, arguments: list[str]) -> str:
    """The key, or where it was not typed itself the first with a reference: this one may lead there."""
    typed = [word.partition("=")[0].lstrip("+") for word in arguments if "${" in word]
    return key if key in typed else next(iter(typed), key)


def _unknown_key(key: str, arguments: list[str]) -> str:
    """Which choice of the group lacks the key, the nearest one it has, and all of them."""
    group, _, name = key.partition(".")
    listed = next((word for word in arguments if re.match(rf"{group}=\w+,", word)), "")
    others = [word for word in arguments if word != listed]
    alternatives = [f"{group}={one}" for one in listed.partition("=")[2].split(",") if one]
    for choice in alternatives or [""]:
        config = compose_choices([*others, choice])
        known = [one for one in _keys(config) if not one.startswith("hydra.")]
        if key in known:  # another one of several choices lacks it
            continue
        chosen = config.hydra.runtime.choices.get(group) if name and "hydra" in config else None
        if chosen is None:
            near = nearest(key, known)
            hint = f"did you mean {near[0]}?" if near else "see odfl run --cfg job"
            return f"{key}: there is no such key; {hint}"
        found = [re.fullmatch(rf"{group}\.([^_].*)", one) for one in known]
        return (
            f"{key}: {chosen} has no {name}; {_its_keys(group, name, [f[1] for f in found if f])}"
        )
    return f"{key}: cannot be set like that; see odfl run --cfg job"


def _its_keys(group: str, name: str, keys: list[str]) -> str:
    """The nearest key of a choice, and all of them."""
    near = nearest(name, keys, cutoff=0.8)
    hint = f"did you mean {group}.{near[0]}? " if near else ""
    own = [one for one in keys if "." not in one]
    return f"{hint}its keys are {', '.join(own)}" if own else "it has no keys"


def compose_choices(arguments: list[str]) -> DictConfig:
    """The configuration with the user's choices of groups, of a list the first, and no values."""
    given = [re.fullmatch(r"([\w/]+=[A-Za-z_]\w*)(,.*)?", argument) for argument in arguments]
    groups = [found[1] for found in given if found]
    main, *users = directories([word for word in arguments if word])
    searchpath = [f"hydra.searchpath=[{','.join(f'file://{path}' for path in users)}]"]
    GlobalHydra.instance().clear()  # the failed application's; nothing runs after an explanation
    for choices in (groups, []):
        overrides = [*choices, *(searchpath if users else [])]
        try:
            with initialize_config_dir(str(main), version_base="1.3"):
                return compose("config", overrides=overrides, return_hydra_config=True)
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
