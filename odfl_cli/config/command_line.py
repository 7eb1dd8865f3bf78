"""The words after `odfl run`: checked, and put in the order that Hydra takes."""

import argparse
import re
from pathlib import Path

from odfl_cli.config.directory import choices_of, conf_directory
from odfl_cli.core.errors import UserError
from odfl_cli.core.text import did_you_mean

RENAMED = {
    r"solver(=\w+)?": "kappa=0 (the default: exact decisions)",
    r"solver\.kappa=(.*)": r"kappa=\1",
    r"belief=(horizon|parameters|faces)_tenth": r"algo.belief.\1=0.1",
    r"belief=(horizon|parameters|faces)_tenfold": r"algo.belief.\1=10",
    r"belief(=.*)?": "algo.belief.horizon=0.1, algo.belief.parameters=… or algo.belief.faces=…",
    r"belief\.(\w+=.*)": r"algo.belief.\1",
    r"algo\.guard=.*": "algo=guard (guarded) or algo=df_moments (not)",
}
"""Overrides of earlier versions, and ones that people try → what they are written as."""
MODES = ("run", "multirun", "cfg", "info", "shell_completion")
SWITCHES = ("--help -h", "--hydra-help", "--version", "--resolve", "--run -r", "--multirun -m",
            "--shell-completion -sc")  # fmt: skip
VALUES = ("--package -p", "--config-path -cp", "--config-name -cn", "--config-dir -cd",
          "--experimental-rerun")  # fmt: skip
INFO = ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath")
NAME = r"(?!(null|true|false|nan|inf)\b)[a-z_][\w./-]*"
CHOICES = re.compile(rf"(?i){NAME}(,\s*{NAME})*|\w+\(.*\)|(['\"]).*\3|.*\$\{{.*")
"""The values of a group: names, a function of Hydra's sweeps, quoted text, an interpolation."""


def parse(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Hydra's flags and the overrides in any order, and the flags that Hydra does not know."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    for names in SWITCHES:
        parser.add_argument(*names.split(), action="store_true")
    for names in VALUES:
        parser.add_argument(*names.split())
    parser.add_argument("--cfg", "-c", choices=["job", "hydra", "all"])
    parser.add_argument("--info", "-i", const="all", nargs="?", choices=INFO)
    parser.add_argument("overrides", nargs="*")
    try:
        return parser.parse_known_intermixed_args(arguments)
    except argparse.ArgumentError as error:
        raise UserError(f"run: {error}; see odfl run --hydra-help") from error


def order_words(arguments: list[str]) -> list[str]:
    """Overrides, then flags, for Hydra takes no flag between overrides; refuses bad overrides."""
    parsed, _ = parse(arguments)
    if parsed.resolve and not (parsed.cfg or parsed.help):
        raise UserError("--resolve: it belongs to --cfg, as in odfl run --cfg job --resolve")
    if len(modes := [flag for flag in MODES if getattr(parsed, flag)]) > 1:
        raise UserError(f"--{modes[0]} and --{modes[1]} cannot be combined")
    flags = list(arguments)
    for override in parsed.overrides:
        _check_spelling(override)
        _check_group_override(override, directories(arguments))
        flags.remove(override)
    overrides = [word for word in parsed.overrides if word != "experiment=null"]
    return [*overrides, *flags]  # Hydra refuses null for a group, though it is the default here


def directories(arguments: list[str]) -> list[Path]:
    """Where configuration files are: the package's, and the user's --config-dir."""
    users = parse(arguments)[0].config_dir
    return [conf_directory(), *([Path(users).absolute()] if users else [])]


def find_experiment(arguments: list[str]) -> str | None:
    """The override `experiment=NAME` of a command line that leaves open whether it is a sweep."""
    parsed, _ = parse(arguments)
    if parsed.help or parsed.hydra_help or any(getattr(parsed, flag) for flag in MODES):
        return None
    if any(word.lstrip("+").startswith("hydra.mode=") for word in parsed.overrides):
        return None
    named = [
        word for word in parsed.overrides if re.fullmatch(r"\+?experiment=(?!null$)[\w/-]+", word)
    ]
    return named[-1] if named else None


def no_such_choice(group: str, choice: str, choices: list[str]) -> str:
    """The line that refuses a choice."""
    if group == "horizon" and choice.isdigit():
        there_are = did_you_mean("", choices)
        return f"{group}={choice}: no such choice; did you mean horizon.rounds? {there_are}"
    return f"{group}={choice}: no such choice; {did_you_mean(choice, choices)}"


def _check_spelling(override: str) -> None:
    """Refuses an override of an earlier version and says how it is written now."""
    for old, new in RENAMED.items():
        if found := re.fullmatch(old, override.lstrip("+~")):
            raise UserError(f"{override}: this is now written as {found.expand(new)}")


def _check_group_override(override: str, folders: list[Path]) -> None:
    """Refuses `horizon=1000`, `algo=null`, `predictor=[a]` and `~algo`: a group takes a choice."""
    removed = re.fullmatch(r"~(\w+)(=.*)?", override)
    given = re.fullmatch(r"(\w+)=(.*)", override)
    found = removed or given
    if not found or not (choices := choices_of(found[1], folders)):
        return
    if removed and found[1] != "experiment":
        options = ", ".join(choices)
        raise UserError(f"{override}: a job needs its {found[1]}; choose one of {options}")
    if given and override != "experiment=null" and not CHOICES.fullmatch(given[2]):
        raise UserError(no_such_choice(given[1], given[2], choices))
