"""Completes groups, choices and keys after `odfl run`: choices from file names, the rest by Hydra, which is slow."""

import io
import os
import re
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path

from odfl_cli.config.directory import choices_of, conf_directory, is_tuning

PATH_STARTS = (".", "/", "\\")
"""A value that starts like this is a path, which Hydra completes."""


def answer(arguments: list[str]) -> int:
    """Prints the completions of the last word of COMP_LINE."""
    line = os.environ.get("COMP_LINE", "")
    flags = config_directory(line)
    asked, prefix = question(line)
    words = choices(asked, [conf_directory(), *map(Path, flags[1:])])
    if words is None:
        from odfl_cli.cli.run import main as run

        os.environ["COMP_LINE"] = asked
        with redirect_stdout(io.StringIO()) as output:
            run([*arguments, *flags])
        words = output.getvalue().split()
    words = [word for word in words if not is_tuning(re.split("[=.]", word)[0])]
    print(" ".join(prefix + word.rpartition("=")[2] if prefix else word for word in words))
    return 0


def question(line: str) -> tuple[str, str]:
    """The line in a form that Hydra completes, without verb, flags and lists, and a prefix for its answers."""
    words = line.split()[1:]
    words = words[1:] if words[:1] == ["run"] else words
    last = "" if not words or line[-1].isspace() else words.pop()
    first_choice = partial(re.sub, r"^([^=]+=[\w.+-]+),.*", r"\1")
    overrides = [first_choice(word) for word in words if "=" in word and not word.startswith("-")]
    key, _, value = last.partition("=")
    prefix = last[: last.rfind(",") + 1] if "," in value else ""
    last = f"{key}={value.rpartition(',')[2]}" if prefix else last
    return " ".join(["odfl", *overrides, last]), prefix


def choices(asked: str, folders: list[Path]) -> list[str] | None:
    """`group=choice` for the last word, from the file names; None if it names no group."""
    group, equals, value = asked.rpartition(" ")[2].partition("=")
    if not equals or "hydra" in asked or value.startswith(PATH_STARTS):
        return None
    found = choices_of(group, folders)
    return [f"{group}={name}" for name in found if name.startswith(value)] if found else None


def config_directory(line: str) -> list[str]:
    """The flag --config-dir of the line, if it has one."""
    found = re.search(r"\s(?:--config-dir|-cd)[\s=]+(\S+)\s", line)
    return ["--config-dir", os.path.expanduser(found[1])] if found else []
