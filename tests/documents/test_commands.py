"""Every command that README.md and docs/ show is one that can be typed."""

import importlib
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import IntervalSweep
from support.commands import REPOSITORY, odfl, run_directories
from support.documents import ALL, OTHERS, PAGES, RUNS, WITH_OWN_PARTS
from support.problems import composed
from support.samples import some_of

from odfl_cli.cli.parser import Parser


def test_make_lists_every_target() -> None:
    targets = re.findall(
        r"^\.PHONY: ((?:.*\\\n)*.*)$", (REPOSITORY / "Makefile").read_text(), re.MULTILINE
    )
    names = set(" ".join(targets).replace("\\", " ").split()) - {"help"}
    listed = subprocess.run(["make", "help"], cwd=REPOSITORY, capture_output=True, text=True).stdout
    assert {line.split()[0] for line in listed.splitlines() if line.startswith("  ")} == names
    shown = re.findall(r"`make ([a-z-]+)`|^make ([a-z-]+)", ALL, re.MULTILINE)
    assert {name for pair in shown for name in pair if name} <= names


SHOWN = [
    command
    for command in RUNS
    if command not in WITH_OWN_PARTS and "--config-dir=conf" not in command
]


@pytest.mark.parametrize("words", some_of([[*command] for command in SHOWN], 10), ids=" ".join)
def test_every_run_is_composed(words: list[str]) -> None:
    words = [word for word in words if not word.startswith("-") and word != "job"]
    composed(*(first_of(word) for word in words if not of_a_plugin(word)))


def first_of(word: str) -> str:
    """An override with the first of the values that it sweeps over."""
    override = OverridesParser.create().parse_override(word)
    if not override.is_sweep_override():
        return word
    value = override.value()
    first = (
        value.start if isinstance(value, IntervalSweep) else next(override.sweep_string_iterator())
    )
    return f"{override.get_key_element()}={first}"


def of_a_plugin(word: str) -> bool:
    """True if an override chooses or sets a plugin of Hydra; a choice must have its file."""
    key, _, value = word.partition("=")
    if key.startswith("hydra/"):
        assert (REPOSITORY / "conf" / key / f"{value}.yaml").exists()
    return key.startswith(("hydra/", "hydra."))


class ParsedError(Exception):
    """The command line was understood."""


@pytest.mark.parametrize("command", OTHERS, ids=" ".join)
def test_every_other_command_is_parsed(command: tuple[str, ...], monkeypatch) -> None:
    for name in ("parse_args", "parse_intermixed_args"):
        monkeypatch.setattr(Parser, name, parse_all(getattr(Parser, name)))
    verb, *arguments = command
    if verb == "completion":
        assert arguments in (["bash"], ["zsh"])
        return
    with pytest.raises(ParsedError):
        importlib.import_module(f"odfl_cli.cli.{verb}").main(arguments)


def parse_all(parse):
    def stop(self, *arguments):
        parse(self, *arguments)
        raise ParsedError

    return stop


@pytest.mark.thorough
def test_the_first_commands_of_the_readme_run(tmp_path: Path) -> None:
    block = PAGES["README.md"].split("## Five commands to type")[1].split("```")[1]
    shown = [shlex.split(line, comments=True)[1:] for line in block.strip().splitlines()]
    assert len(shown) == 5
    for command in shown:
        words = [word for word in command if word != "--open"]
        small = ("horizon=smoke", "seeds=2") if words[0] == "run" else ()
        done = odfl(*words, *small, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert len(run_directories(tmp_path)) == 6
    assert (tmp_path / "outputs/figures/gammas/gap.png").exists()
    assert (tmp_path / "report.html").exists()
