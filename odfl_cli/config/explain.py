"""Errors of Hydra, OmegaConf and YAML, each as one line that says what to do."""

import argparse
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra._internal.utils import get_args_parser
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import MarkedYAMLError

from odfl_cli.config.directory import choices_of, conf_directory
from odfl_cli.core.errors import UserError
from odfl_cli.core.text import did_you_mean, nearest

RENAMED = {
    r"solver(=\w+)?": "kappa=0 (the default: exact decisions)",
    r"solver\.kappa=(.*)": r"kappa=\1",
    r"belief=(horizon|parameters|faces)_tenth": r"algo.belief.\1=0.1",
    r"belief=(horizon|parameters|faces)_tenfold": r"algo.belief.\1=10",
    r"belief(=.*)?": "algo.belief.horizon=0.1, algo.belief.parameters=… or algo.belief.faces=…",
    r"belief\.(\w+=.*)": r"algo.belief.\1",
    r"algo\.guard=.*": "algo=guard (guarded) or algo=df_moments (not)",
}
"""Overrides of earlier versions, and ones that people try, and what they are written as."""

COMPLAINTS = (HydraException, OmegaConfBaseException, MarkedYAMLError)
MODES = ("run", "multirun", "cfg", "info", "shell_completion")
NAME = r"(?!(null|true|false|nan|inf)\b)[a-z_][\w./-]*"
CHOICES = re.compile(rf"(?i){NAME}(,\s*{NAME})*|\w+\(.*\)|(['\"]).*\3|.*\$\{{.*")
"""The values of a group: names, a function of Hydra's sweeps, quoted text, an interpolation."""


@contextmanager
def explained(arguments: list[str]) -> Iterator[None]:
    """Turns what goes wrong while configurations are composed into a UserError of one line."""
    try:
        yield
    except (*COMPLAINTS, UnicodeDecodeError, RecursionError) as error:
        raise UserError(explain(error, arguments)) from error


def explain(error: Exception, arguments: list[str]) -> str:
    """One line for a configuration that could not be composed."""
    text = " ".join(str(part) for part in (error, error.__cause__) if part)
    if isinstance(error, MarkedYAMLError):
        return _malformed(error)
    if isinstance(error, UnicodeDecodeError):
        return f"{_undecodable(arguments)}: not UTF-8 ({error.reason} at byte {error.start})"
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
        return f"{_typed(key[1], arguments)}: {str(error).splitlines()[0]}"
    return " ".join(str(error).split())


def check_arguments(arguments: list[str]) -> list[str]:
    """Overrides, then flags, for Hydra takes no flag between overrides.

    Refuses unknown flags and overrides that Hydra explains badly.
    """
    parsed, unknown = _parsed(arguments)
    if unknown:
        raise UserError(f"{unknown[0]}: no such flag; {_without_dashes(unknown[0], arguments)}")
    if parsed.resolve and not (parsed.cfg or parsed.help):
        raise UserError("--resolve: it belongs to --cfg, as in odfl run --cfg job --resolve")
    if len(modes := [flag for flag in MODES if getattr(parsed, flag)]) > 1:
        raise UserError(f"--{modes[0]} and --{modes[1]} cannot be combined")
    for override in parsed.overrides:
        _check_spelling(override)
        _check_group_override(override, arguments)
    flags = list(arguments)
    for override in parsed.overrides:
        flags.remove(override)
    return [*parsed.overrides, *flags]


def _without_dashes(flag: str, arguments: list[str]) -> str:
    """How a setting that was typed as a flag is written."""
    name, _, value = flag.lstrip("-").partition("=")
    near = nearest(
        name, [key for key in _keys(_composed([])) if not key.startswith("hydra")], cutoff=0.8
    )
    if not near:
        return "see odfl run --hydra-help"
    following = [*arguments[arguments.index(flag) + 1 :], ""][0]
    value = value or ("…" if not following or "=" in following else following)
    return f"settings have no dashes: {near[0]}={value}"


def leaves_mode(arguments: list[str]) -> bool:
    """Whether nothing but -m makes a sweep of it: no experiment, no mode, no files of the user's."""
    parsed, _ = _parsed(arguments)
    names = {override.lstrip("+~").partition("=")[0] for override in parsed.overrides}
    others = parsed.config_dir or parsed.config_name or parsed.config_path
    return not others and not any(n == "experiment" or n.startswith("hydra") for n in names)


def _check_spelling(override: str) -> None:
    """Refuses an override of an earlier version and says how it is written now."""
    for old, new in RENAMED.items():
        if found := re.fullmatch(old, override.lstrip("+~")):
            raise UserError(f"{override}: this is now written as {found.expand(new)}")


def _check_group_override(override: str, arguments: list[str]) -> None:
    """Refuses `horizon=1000`, `algo=null`, `predictor=[a]` and `~algo`: a group takes a choice."""
    removed = re.fullmatch(r"~(\w+)(=.*)?", override)
    given = re.fullmatch(r"(\w+)=(.*)", override)
    found = removed or given
    if not found or not (choices := _choices(found[1], arguments)):
        return
    if removed and found[1] != "experiment":
        options = ", ".join(choices)
        raise UserError(f"{override}: a job needs its {found[1]}; choose one of {options}")
    if given and override != "experiment=null" and not CHOICES.fullmatch(given[2]):
        raise UserError(_no_such_choice(given[1], given[2], choices))


def _parsed(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """As Hydra reads them, flags and overrides in any order, and the flags it does not know."""
    try:
        return _parser().parse_known_intermixed_args(arguments)
    except argparse.ArgumentError as error:
        raise UserError(f"run: {error}; see odfl run --hydra-help") from error


@cache
def _parser() -> argparse.ArgumentParser:
    """Hydra's, which takes longer to make than to use."""
    parser = get_args_parser()
    parser.exit_on_error = False
    return parser


def _malformed(error: MarkedYAMLError) -> str:
    """Which file, which line, what is wrong."""
    mark = error.problem_mark or error.context_mark
    where = f"{mark.name}, line {mark.line + 1}" if mark else "a configuration file"
    return f"{where}: not YAML ({error.problem or error.context})"


def _undecodable(arguments: list[str]) -> str:
    """The first configuration file that is not UTF-8."""
    for file in (path for folder in _directories(arguments) for path in folder.rglob("*.yaml")):
        try:
            file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            return str(file)
    return "a configuration file"


def _directories(arguments: list[str]) -> list[Path]:
    """Where configuration files are: the package's, and the user's --config-dir."""
    users = _parsed(arguments)[0].config_dir
    return [conf_directory(), *([Path(users).absolute()] if users else [])]


def _choices(group: str, arguments: list[str]) -> list[str]:
    return choices_of(group, _directories(arguments))


def _no_such_choice(group: str, choice: str, choices: list[str]) -> str:
    if group == "horizon" and choice.isdigit():
        there_are = did_you_mean("", choices)
        return f"{group}={choice}: no such choice; did you mean horizon.rounds? {there_are}"
    return f"{group}={choice}: no such choice; {did_you_mean(choice, choices)}"


def _unknown_choice(text: str, arguments: list[str]) -> str:
    """`Could not find 'algo/nope'` with the choices that there are."""
    found = re.search(r"Could not find '([^']+)/([^'/]*)'", text)
    if not found:
        return " ".join(text.split())
    group, choice = found.groups()
    return _no_such_choice(group, choice, _choices(group, arguments))


def _no_such_reference(key: str, named: str, arguments: list[str]) -> str:
    """A key that takes its value from one that another group's choice does not have."""
    group = key.partition(".")[0]
    files = {choice: conf_directory() / group / f"{choice}.yaml" for choice in _choices(group, [])}
    others = [name for name, file in files.items() if f"${{{named}}}" not in file.read_text()]
    if len(others) == len(files):  # the user wrote it
        return f"{_typed(key, arguments)}: Interpolation key '{named}' not found"
    return f"{key}: it needs {named}, which is not there; choose {group}={' or '.join(others)}"


def _typed(key: str, arguments: list[str]) -> str:
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
        config = _composed([*others, choice])
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


def _composed(arguments: list[str]) -> DictConfig:
    """The configuration with the user's choices of groups, of a list the first, and no values."""
    given = [re.fullmatch(r"([\w/]+=[A-Za-z_]\w*)(,.*)?", argument) for argument in arguments]
    groups = [found[1] for found in given if found]
    main, *users = _directories([word for word in arguments if word])
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
