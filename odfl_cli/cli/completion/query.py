"""Groups, choices and keys for the last word of a line that begins `odfl run`.

The choices of a group are the names of its files. Other words are asked of Hydra, which takes most of
a second to compose the configuration, and its answers are kept until a file of the configuration changes.
"""

import io
import os
import re
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

from odfl_cli.cli.completion.memory import Memory
from odfl_cli.config.directory import choices_of, conf_directory, is_tuning

PATH = (".", "/", "\\")
"""By which Hydra knows that a value is a path, and completes it."""


def answer(arguments: list[str], hydra: Callable[[list[str]], int]) -> int:
    """Prints the completions of the last word of COMP_LINE."""
    line = os.environ.get("COMP_LINE", "")
    flags = config_directory(line)
    folders = [conf_directory(), *map(Path, flags[1:])]

    def ask(asked: str) -> list[str]:
        os.environ["COMP_LINE"] = asked
        output = io.StringIO()
        with redirect_stdout(output):
            hydra([*arguments, *flags])
        return output.getvalue().split()

    asked, kept = question(line)
    words = choices(asked, folders)
    if words is None:
        words = keys(asked, folders, ask)
    words = [word for word in words if not is_tuning(re.split("[=.]", word)[0])]
    print(" ".join(kept + word.rpartition("=")[2] if kept else word for word in words))
    return 0


def question(line: str) -> tuple[str, str]:
    """The line as Hydra can read it, and the start of the last word that its answers lack.

    Hydra completes no verb, no flags between words and no lists: of `algo=a,b` it is given the
    last choice in the word to complete, and the first one elsewhere.
    """
    words = line.split()[1:]
    words = words[1:] if words[:1] == ["run"] else words
    last = "" if not words or line[-1].isspace() else words.pop()
    overrides = [_first(word) for word in words if "=" in word and not word.startswith("-")]
    key, _, value = last.partition("=")
    kept = last[: last.rfind(",") + 1] if "," in value else ""
    last = f"{key}={value.rpartition(',')[2]}" if kept else last
    return " ".join(["odfl", *overrides, last]), kept


def choices(asked: str, folders: list[Path]) -> list[str] | None:
    """`group=choice` for the last word, from the files' names; None where it is no group of theirs."""
    group, equals, value = asked.rpartition(" ")[2].partition("=")
    if not equals or "hydra" in asked or value.startswith(PATH):
        return None
    found = choices_of(group, folders)
    return [f"{group}={name}" for name in found if name.startswith(value)] if found else None


def keys(asked: str, folders: list[Path], ask: Callable[[str], list[str]]) -> list[str]:
    """Hydra's answer: remembered for all words that begin alike, or asked for."""
    before, _, last = asked.rpartition(" ")
    if "hydra" in asked or last.partition("=")[2].startswith(PATH):
        return ask(asked)  # plugins, or files below the working directory, may change unseen
    if "=" in last:  # the key's value
        return Memory(folders).recall(asked, ask)
    start = re.sub(r"[^./+~]*$", "", last)  # all keys of a group, all names
    named = [word for word in before.split() if "." not in word.partition("=")[0]]  # not values
    found = Memory(folders).recall(" ".join([*named, start]), ask)
    return [word for word in found if word.startswith(last)]


def config_directory(line: str) -> list[str]:
    """The flag --config-dir of the line, if it has one."""
    found = re.search(r"\s(?:--config-dir|-cd)[\s=]+(\S+)\s", line)
    return ["--config-dir", os.path.expanduser(found[1])] if found else []


def _first(word: str) -> str:
    return re.sub(r"^([^=]+=[\w.+-]+),.*", r"\1", word)
