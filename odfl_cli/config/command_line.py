"""Parses and checks the words after `odfl run`."""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from odfl_cli.config.directory import choices_of, conf_directory
from odfl_cli.core.errors import UserError
from odfl_cli.core.text import did_you_mean

RENAMED = {
    r"solver(=\w+)?": "kappa=0 (the default: exact decisions)",
    r"solver\.kappa=(.*)": r"kappa=\1",
    r"belief=faces_tenth": "algo.belief.faces=0.1",
    r"belief=faces_tenfold": "algo.belief.faces=10",
    r"belief=(horizon|parameters)_tenth": r"algo=df_ftpl algo.belief.\1=0.1",
    r"belief=(horizon|parameters)_tenfold": r"algo=df_ftpl algo.belief.\1=10",
    r"belief\.((horizon|parameters)=.*)": r"algo=df_ftpl algo.belief.\1",
    r"belief(=.*)?": "algo.belief.faces=0.1 or, of df_ftpl, algo.belief.horizon=… and algo.belief.parameters=…",
    r"belief\.(\w+=.*)": r"algo.belief.\1",
    r"save_weights=.*": "save_state=true, whose files predictor.weights reads too",
    r"zip\(.*": "data.items=tag(zip,choice(5,80)) horizon.rounds=tag(zip,choice(1000,5000))",
    r"algo\.guard=.*": "algo=guard (guarded) or algo=df_moments (not)",
    r"predictor=conv": "--config-dir reproduce/conf experiment=terrain, in odfl's clone",
    r"T=(.*)": r"horizon.rounds=\1",
    r"K=(.*)": r"data.items=\1",
    r"p=(.*)": r"data.features=\1",
    r"engine=(gpu|cuda)": "engine=torch engine.device=cuda",
}
"""Overrides of earlier versions and common guesses → the current spelling."""
OUTSIDE = ("terrain", "prices", "emissions")
"""Examples outside the package, choices of `data` and `experiment` in reproduce/conf."""
TOGETHER = re.compile(r"[\w./@+~]+=[^\s'\"\[{(]+(\s+[\w./@+~]+=[^\s'\"]+)+")
"""Two overrides or more in one word."""
MODES = ("run", "multirun", "cfg", "info", "shell_completion")
SWITCHES = ("--help -h", "--hydra-help", "--version", "--resolve", "--run -r", "--multirun -m",
            "--shell-completion -sc")  # fmt: skip
VALUES = ("--package -p", "--config-path -cp", "--config-name -cn", "--config-dir -cd",
          "--experimental-rerun")  # fmt: skip
INFO = ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath")
NAME = r"(?!(null|true|false|nan|inf)\b)[a-z_][\w./-]*"
CHOICES = re.compile(rf"(?i){NAME}(,\s*{NAME})*|\w+\(.*\)|(['\"]).*\3|.*\$\{{.*")
"""Valid values of a group: names, a sweep function of Hydra, quoted text, an interpolation."""


class CommandLine:
    """The words after `odfl run`: overrides and Hydra's flags, in any order."""

    def __init__(self, arguments: Sequence[str]) -> None:
        parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
        for names in SWITCHES:
            parser.add_argument(*names.split(), action="store_true")
        for names in VALUES:
            parser.add_argument(*names.split())
        parser.add_argument("--cfg", "-c", choices=["job", "hydra", "all"])
        parser.add_argument("--info", "-i", const="all", nargs="?", choices=INFO)
        parser.add_argument("overrides", nargs="*")
        try:
            self.typed, self.unknown = parser.parse_known_intermixed_args(arguments)
        except argparse.ArgumentError as error:
            raise UserError(f"run: {error}; see odfl run --hydra-help") from error
        self.arguments, self.overrides = list(arguments), self.typed.overrides
        self.flags = list(arguments)  # with their values
        for override in self.overrides:
            self.flags.remove(override)
        users = [Path(self.typed.config_dir).absolute()] if self.typed.config_dir else []
        self.folders = [conf_directory(), *users]
        self.search_path = [f"hydra.searchpath=[file://{folder}]" for folder in users]
        self.modes = [mode for mode in MODES if getattr(self.typed, mode)]

    def check(self) -> None:
        """Raises a UserError for mistakes that Hydra explains badly."""
        if self.typed.resolve and not (self.typed.cfg or self.typed.help):
            raise UserError("--resolve: it belongs to --cfg, as in odfl run --cfg job --resolve")
        if len(self.modes) > 1:
            raise UserError(f"--{self.modes[0]} and --{self.modes[1]} cannot be combined")
        if self.typed.experimental_rerun is not None:
            raise UserError("--experimental-rerun: pickles are not loaded; odfl show repeats a run")
        if (folder := self.typed.config_dir) is not None and not (folder and Path(folder).is_dir()):
            raise UserError(f"--config-dir {folder}: directory not found")
        for override in self.overrides:
            _check_spelling(override)
            _check_group_override(override, self.folders)
        if "experiment=null" in self.overrides:  # the default, which Hydra refuses
            self.overrides = [word for word in self.overrides if word != "experiment=null"]

    def leaves_mode_open(self) -> bool:
        """True if the line runs something and does not say whether it is a sweep."""
        if self.modes or self.typed.help or self.typed.hydra_help:
            return False
        return not any(word.lstrip("+").startswith("hydra.mode=") for word in self.overrides)

    def find_experiment(self) -> str | None:
        """The last override `experiment=NAME`."""
        pattern = re.compile(r"\+?experiment=(?!null$)[\w/-]+")
        return next(filter(pattern.fullmatch, reversed(self.overrides)), None)


def no_such_choice(group: str, choice: str, choices: list[str]) -> str:
    """The error message for a choice that does not exist."""
    if group == "horizon" and choice.isdigit():
        there_are = did_you_mean("", choices)
        return f"{group}={choice}: no such choice; did you mean horizon.rounds? {there_are}"
    if group in ("data", "experiment") and choice in OUTSIDE:
        example = f"--config-dir reproduce/conf experiment={choice}"
        return f"{group}={choice}: it is outside the package; in odfl's clone, type {example}"
    return f"{group}={choice}: no such choice; {did_you_mean(choice, choices)}"


def _check_spelling(override: str) -> None:
    """Raises for an override that is misspelt or of an earlier version, with the right spelling."""
    for old, new in RENAMED.items():
        if found := re.fullmatch(old, override.lstrip("+~")):
            raise UserError(f"{override}: this is written as {found.expand(new)}")
    if TOGETHER.fullmatch(override):
        raise UserError(f"{override}: several overrides in one pair of quotes; quote each alone")
    if re.fullmatch(r"[^='\"]+=[^'\"]*,", override):
        raise UserError(
            f"{override}: a value is missing after the comma; values have no spaces between them, as "
            f"in {override}…"
        )
    if re.fullmatch(r".*_target_=\s*", override):
        raise UserError(f"{override}: name a class, as in {override.strip()}my_module.MyClass")
    if found := re.fullmatch(r"([^=]+)=(logspace|linspace)\((.*)\)", override):
        raise UserError(
            f"{override}: a sweep has no {found[2]}; list the values, as in {found[1]}=0.01,0.1,1"
        )


def _check_group_override(override: str, folders: list[Path]) -> None:
    """Raises for `horizon=1000`, `algo=null`, `predictor=[a]` and `~algo`: a group takes a choice."""
    removed = re.fullmatch(r"~(\w+)(=.*)?", override)
    given = re.fullmatch(r"\+*([\w/]+)(?:@[\w.]+)?=(.*)", override)
    found = removed or given
    if not found or not (choices := choices_of(found[1], folders)):
        return
    if removed and found[1] != "experiment":
        options = ", ".join(choices)
        raise UserError(f"{override}: a job needs its {found[1]}; choose one of {options}")
    if given and override != "experiment=null" and not CHOICES.fullmatch(given[2]):
        raise UserError(no_such_choice(override.partition("=")[0], given[2], choices))
