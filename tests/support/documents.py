"""README.md and docs/ as tests read them."""

import re
import shlex

import render

from support.commands import REPOSITORY

PAGES = {page.relative_to(REPOSITORY).as_posix(): page.read_text() for page in render.PAGES}


ALL = "\n".join(PAGES.values())


FILES = dict(re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", ALL, re.DOTALL))


PARTS = [f"my_{part}.py" for part in ["algorithm", "momentum", "follower", "environment", "polytope", "predictor"]]  # fmt: skip


def commands() -> list[tuple[str, ...]]:
    """The arguments of every `odfl …` in a block or in a line, without those that are cut short.

    A verb without arguments, in a line, is a name (`odfl best`, `odfl data check`).
    """
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", ALL, re.DOTALL | re.MULTILINE)
    typed = "\n".join(block for language, block in blocks if not language)
    shown = re.findall(r"^odfl (.*)$", typed, re.MULTILINE)
    shown += re.findall(r"(?<!`)`odfl (?!data \w+`)(\w+ [^`\n]*)`", ALL)
    whole = [line for line in dict.fromkeys(shown) if "…" not in line and "<" not in line]
    return [tuple(shlex.split(line, comments=True)) for line in whole]


RUNS = [command[1:] for command in commands() if command[0] == "run"]
WITH_OWN_PARTS = [command for command in RUNS if "--config-dir" in command]
OTHERS = [command for command in commands() if command[0] != "run"]
