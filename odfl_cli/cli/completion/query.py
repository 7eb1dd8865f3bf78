"""Groups, choices and keys for the last word of a line that begins `odfl run`."""

import io
import os
import re
from collections.abc import Callable
from contextlib import redirect_stdout

from odfl_cli.config.directory import is_tuning


def answer(arguments: list[str], hydra: Callable[[list[str]], int]) -> int:
    """Prints Hydra's completions of the last word of COMP_LINE."""
    line = os.environ.get("COMP_LINE", "")
    os.environ["COMP_LINE"], kept = question(line)
    output = io.StringIO()
    with redirect_stdout(output):
        code = hydra([*arguments, *config_directory(line)])
    words = [word for word in output.getvalue().split() if not is_tuning(re.split("[=.]", word)[0])]
    print(" ".join(kept + word.rpartition("=")[2] if kept else word for word in words))
    return code


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


def config_directory(line: str) -> list[str]:
    """The flag --config-dir of the line, if it has one."""
    found = re.search(r"\s(?:--config-dir|-cd)[\s=]+(\S+)\s", line)
    return ["--config-dir", os.path.expanduser(found[1])] if found else []


def _first(word: str) -> str:
    return re.sub(r"^([^=]+=[\w.+-]+),.*", r"\1", word)
