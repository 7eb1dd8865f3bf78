"""Turns errors of Hydra, OmegaConf and YAML into one line that says what to do."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENAMETOOLONG
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from hydra.utils import get_class
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import GrammarParseError, OmegaConfBaseException
from yaml import MarkedYAMLError, YAMLError

from odfl_cli.config.command_line import CommandLine, no_such_choice
from odfl_cli.config.directory import choices_of, conf_directory, variants
from odfl_cli.core.errors import UserError, is_foreign, message
from odfl_cli.core.text import nearest

COMPLAINTS = (HydraException, OmegaConfBaseException, YAMLError)
SWEPT = ", although hydra.sweeper.params sets it"


@contextmanager
def explain_errors(arguments: list[str]) -> Iterator[None]:
    """Turns errors of Hydra into UserErrors of one line; others, in odfl's or the user's code, stay as they are."""
    try:
        yield
    except (*COMPLAINTS, UnicodeDecodeError, RecursionError) as error:
        raise UserError(explain(error, arguments)) from error
    except Exception as error:
        if isinstance(error, OSError) and error.errno == ENAMETOOLONG:
            longest = Path(max(Path(error.filename).parts, key=len)).stem
            word = next((word for word in arguments if longest in word), longest)
            raise UserError(f"{word}: the name is too long") from error
        ours = isinstance(error, UserError | OSError) or not is_foreign(error, below=3)
        if ours and not _find_unreadable(error, arguments):  # OmegaConf raises an OSError too
            raise
        if isinstance(error.__cause__, OSError):  # a log that cannot be opened
            raise error.__cause__ from None
        raise UserError(explain(error, arguments)) from error


def explain(error: Exception, arguments: list[str]) -> str:
    """The message for a configuration that could not be composed."""
    text = " ".join(str(part) for part in (error, error.__cause__) if part)
    if isinstance(error, YAMLError):
        return _explain_yaml(error)
    file = _find_unreadable(error.__cause__ or error, arguments)
    if isinstance(error, UnicodeDecodeError):
        return f"{file or 'a configuration file'}: not UTF-8 ({error.reason} at byte {error.start})"
    if file:
        return f"{file}: cannot be read ({text.strip().splitlines()[0]})"
    if isinstance(error, RecursionError):
        return "the configuration does not end: do the defaults of two files name each other?"
    if isinstance(error, MissingConfigException):
        return _unknown_choice(text, arguments)
    if isinstance(error, OverrideParseException):
        return f"{error.override}: not of the form key=value ({str(error).splitlines()[0]})"
    if several := re.search(r"(?:Ambiguous value for argument|Sweep parameters) '([^']+)'", text):
        hint = "add -m"
        if several[1].startswith("seeds="):
            hint = "write seeds=1000-1019 or seeds=[0-9,20] to name seeds"
        return f"{several[1]}: several values make a sweep; {hint}"
    if key := re.search(r"Could not override '([^']+)'", text):
        return _unknown_key(key[1], arguments)
    if missing := re.search(r"Missing mandatory value: (\S+)", text):
        return f"{missing[1]}: a value is needed"
    if lacking := re.search(r"Interpolation key '([^']+)' not found.* full_key: (\S+)", text, re.S):
        return _no_such_reference(lacking[2], lacking[1], arguments)
    if isinstance(error, OmegaConfBaseException) and (key := re.search(r"full_key: (\S+)", text)):
        return f"{_find_typed_key(key[1], arguments)}: {str(error).splitlines()[0]}"
    text = " ".join(str(error).split()) if isinstance(error, COMPLAINTS) else message(error)
    text = text.partition(" : Override(")[0]  # Hydra's object for a word that is named below
    reason = f" ({message(error.__cause__)})" if isinstance(error.__cause__, Exception) else ""
    hinted = (word for word in arguments if re.match(r"~|.*hydra|.*\$\{", word))
    named = [word for word in hinted if word.partition("=")[0] not in text]
    return f"{' '.join(named)}{': ' if named else ''}{text}{reason}"


def check_arguments(arguments: list[str]) -> CommandLine:
    """The parsed command line; raises a UserError for mistakes that Hydra explains badly."""
    line = CommandLine(arguments)
    if line.unknown:
        hint = _without_dashes(line.unknown[0], arguments)
        raise UserError(f"{line.unknown[0]}: no such flag; {hint}")
    line.check()
    return line


def _without_dashes(flag: str, arguments: list[str]) -> str:
    """The spelling of a setting that was typed as a flag."""
    name, _, value = flag.lstrip("-").partition("=")
    near = nearest(
        name, [key for key in _keys(compose_choices([])) if not key.startswith("hydra")], cutoff=0.8
    )
    if not near:
        return "see odfl run --hydra-help"
    following = [*arguments[arguments.index(flag) + 1 :], ""][0]
    value = value or ("…" if not following or "=" in following else following)
    return f"settings have no dashes: {near[0]}={value}"


def _explain_yaml(error: YAMLError) -> str:
    """The file, the line and the problem of a YAML error."""
    if not isinstance(error, MarkedYAMLError):  # a byte that is invalid in YAML
        where, reason = getattr(error, "name", ""), getattr(error, "reason", "")
        return f"{where or 'a configuration file'}: not YAML ({reason or message(error)})"
    mark = error.problem_mark or error.context_mark
    where = f"{mark.name}, line {mark.line + 1}" if mark else "a configuration file"
    return f"{where}: not YAML ({error.problem or error.context})"


def _find_unreadable(error: BaseException, arguments: list[str]) -> str:
    """The first of the user's configuration files that raises this error; empty if none does."""
    if not isinstance(error, UnicodeDecodeError | GrammarParseError | OSError):
        return ""
    for folder in CommandLine(arguments).folders[1:]:
        for file in folder.rglob("*.yaml"):
            try:
                OmegaConf.load(file)
            except Exception as found:
                if message(found) == message(error):
                    return str(file)
    return ""


def _unknown_choice(text: str, arguments: list[str]) -> str:
    """The message for `Could not find 'algo/nope'`, with the existing choices."""
    found = re.search(r"Could not find '([^']+)/([^'/]*)'", text)
    if not found:
        return " ".join(text.split())
    group, choice = found.groups()
    choices = choices_of(group, CommandLine(arguments).folders) or re.findall(
        r"\n\t([\w.-]+)$", text, re.M
    )
    return no_such_choice(group, choice, [*choices, *(variants() if group == "algo" else ())])


def _no_such_reference(key: str, named: str, arguments: list[str]) -> str:
    """The message for a reference to a key that the choice of another group lacks."""
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
    """The key if it was typed, else the first typed key with a reference, which may lead to it."""
    typed = [word.partition("=")[0].lstrip("+") for word in arguments if "${" in word]
    return key if key in typed else next(iter(typed), key)


def _unknown_key(key: str, arguments: list[str]) -> str:
    """The message for an unknown key: the choice that lacks it, the nearest key and all keys."""
    group, _, name = key.partition(".")
    listed = next((word for word in arguments if re.match(rf"{group}=\w+,", word)), "")
    others = [word for word in arguments if word != listed]
    alternatives = [f"{group}={one}" for one in listed.partition("=")[2].split(",") if one]
    for choice in alternatives or [""]:
        config = compose_choices([*others, choice])
        known = [one for one in _keys(config) if not one.startswith("hydra.")]
        if key in known:  # another one of the choices lacks it
            continue
        chosen = config.hydra.runtime.choices.get(group) if name and "hydra" in config else None
        if chosen is None and (choices := choices_of(group, CommandLine(arguments).folders)):
            return f"{key}: it needs {group}={' or '.join(choices)}"
        if chosen is None:
            near = nearest(key, known)
            hint = f"did you mean {near[0]}?" if near else "see odfl run --cfg job"
            typed = any(word.partition("=")[0].lstrip("+~") == key for word in arguments)
            return f"{key}: there is no such key{'' if typed else SWEPT}; {hint}"
        if _class_has(config[group], name):
            return f"{key}: {chosen}.yaml does not list {name}; add it there, or type +{key}=…"
        found = [re.fullmatch(rf"{group}\.([^_].*)", one) for one in known]
        keys = _its_keys(group, name, [f[1] for f in found if f])
        return f"{key}: {chosen} has no {name}; {_choices_with(group, name)}{keys}"
    if listed:  # Hydra applies a single value to the default choice first
        value = next((w.partition("=")[2] for w in arguments if w.startswith(f"{key}=")), "…")
        return f"{key}: the default {group} lacks it; in a sweep over {group} write {key}=choice({value})"
    return f"{key}: cannot be set like that; see odfl run --cfg job"


def _class_has(choice: DictConfig, name: str) -> bool:
    """True if the class of a choice has such a field, with a default that its file leaves out."""
    try:
        component: Any = get_class(choice["_target_"])
        return not component.__pydantic_fields__[name].is_required()
    except Exception:  # no such field, or a user's class that cannot be imported
        return False


def _choices_with(group: str, name: str) -> str:
    """The choice of the group that requires the key, or the only one that has it."""
    files = {file.stem: file.read_text() for file in (conf_directory() / group).glob("*.yaml")}
    for ending in (r" *\?\?\?", ""):
        found = [
            c for c, text in files.items() if re.search(rf"(?m)^{re.escape(name)}:{ending}", text)
        ]
        if len(found) == 1:
            return f"{group}={found[0]} has it; "
    return ""


def _its_keys(group: str, name: str, keys: list[str]) -> str:
    """The nearest key of a choice, and all its keys."""
    near = nearest(name, keys, cutoff=0.8)
    hint = f"did you mean {group}.{near[0]}? " if near else ""
    names = [one for one in keys if "." not in one]
    return f"{hint}its keys are {', '.join(names)}" if names else "it has no keys"


def compose_choices(arguments: list[str]) -> DictConfig:
    """The configuration with the user's choices (the first of a list) and without other overrides."""
    given = [re.fullmatch(r"([\w/]+=[A-Za-z_]\w*)(,.*)?", argument) for argument in arguments]
    groups = [found[1] for found in given if found]
    line = CommandLine(list(filter(None, arguments)))
    GlobalHydra.instance().clear()  # of the failed application; nothing runs afterwards
    for choices in (groups, []):
        overrides = [*choices, *line.search_path]
        try:
            with initialize_config_dir(str(conf_directory()), version_base="1.3"):
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
