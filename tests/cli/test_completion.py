"""Completion, asked of the real shells with a real tab."""

import os
import pty
import re
import select
import shutil
import sys
import time
from pathlib import Path

import pytest
from support.commands import odfl
from support.processes import Start, starting
from support.samples import marked

from odfl_cli.cli.completion.query import config_directory, question
from odfl_cli.cli.dispatch import VERBS

SHELLS = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}
PATIENCE = 30
KILL_LINE = "\x15"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an `odfl` command of this interpreter and something to complete."""
    home = tmp_path_factory.mktemp("home")
    command = home / "bin" / "odfl"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m odfl_cli "$@"\n')
    command.chmod(0o755)
    (home / "conf" / "algo").mkdir(parents=True)
    (home / "conf" / "algo" / "my_own.yaml").write_text("_target_: mine.Own\nspeed: 1\n")
    for name in ("results_of_tuesday", "outputs/sweeps/first_sweep", "outputs/runs/df_ogd-3a14"):
        (home / name).mkdir(parents=True)
    return home


class Shell:
    """An interactive shell on a terminal of its own."""

    def __init__(self, name: str, home: Path, start: Start) -> None:
        self.ours, theirs = pty.openpty()
        path = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"
        environment = os.environ | {"PATH": path, "TERM": "dumb", "HOME": str(home), "PS1": "> "}
        terminal = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
        self.process = start(*SHELLS[name], cwd=home, env=environment, **terminal)
        os.close(theirs)

    def type(self, text: str) -> None:
        os.write(self.ours, text.encode())

    def read_until(self, pattern: str) -> str:
        """The output of the terminal up to a match."""
        shown, deadline = "", time.monotonic() + PATIENCE
        while not re.search(pattern, shown) and time.monotonic() < deadline:
            if select.select([self.ours], [], [], 0.1)[0]:
                shown += os.read(self.ours, 4096).decode(errors="replace")
        assert re.search(pattern, shown), f"{pattern!r} not in {shown!r}"
        return shown

    def close(self) -> None:
        os.close(self.ours)


@pytest.fixture(scope="module", params=marked(sorted(SHELLS), "bash".__eq__))
def shell(request: pytest.FixtureRequest, home: Path):
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    with starting() as start:
        shell = Shell(request.param, home, start)
        shell.type(f'eval "$(odfl completion {request.param})" && echo re"ad"y\n')
        shell.read_until("ready")
        yield shell
    shell.close()


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("odfl expo", "odfl export "),
        ("odfl run algo=df_f", "odfl run algo=df_ftpl"),
        ("odfl run algo=df_ogd data.gam", "odfl run algo=df_ogd data.gamma="),
        ("odfl run -m horizon=sm", "odfl run -m horizon=smoke"),
        ("odfl run -m algo=df_ogd,pf", "odfl run -m algo=df_ogd,pf_ogd"),
        ("odfl run --config-dir conf algo=my", "odfl run --config-dir conf algo=my_own"),
        ("odfl run --mult", "odfl run --multirun"),
        ("odfl list resu", "odfl list results_of_tuesday/"),
        ("odfl best first_sw", "odfl best first_sweep"),
        ("odfl show df_ogd-3", "odfl show df_ogd-3a14"),
        ("odfl completion ba", "odfl completion bash"),
    ],
)
def test_a_tab_completes(shell: Shell, typed: str, completed: str) -> None:
    shell.type(f"{KILL_LINE}{typed}\t")
    shell.read_until(re.escape(completed))


def test_the_beginning_of_a_hash_is_completed_in_bash(shell: Shell) -> None:
    if shell.process.args[0] == "bash":
        shell.type(f"{KILL_LINE}odfl best 3a\t")
        shell.read_until("3a\b\bdf_ogd-3a14")  # typed, taken back, replaced


@pytest.mark.thorough
def test_what_is_answered(home: Path) -> None:
    for line, expected in {
        "odfl run algo=df_": "algo=df_ftpl algo=df_moments algo=df_ogd",
        "odfl run --config-dir conf algo=my_own,spo algo.sp": "algo.speed=",
        "/some/bin/odfl run horizon=sm": "horizon=smoke",
    }.items():
        done = odfl("-sc", "query=bash", cwd=home, COMP_LINE=line)
        assert done.stdout.split() == expected.split(), line
    done = odfl("-sc", "query=bash", cwd=home, COMP_LINE="odfl run ")
    words = done.stdout.split()
    assert {"algo=", "data=", "experiment=", "seeds=", "data."} <= set(words)
    assert not [word for word in words if "tuned" in word]


def completions(line: str, cwd: Path) -> list[str]:
    return odfl("-sc", "query=bash", cwd=cwd, COMP_LINE=line).stdout.split()


@pytest.mark.thorough
def test_paths_are_those_of_now(tmp_path) -> None:
    line = "odfl run polytope=custom polytope.file=./s"
    for name in ("set.csv", "sides.npz"):
        (tmp_path / name).touch()
        paths = [f"polytope.file=./{path.name}" for path in sorted(tmp_path.glob("s*"))]
        assert completions(line=line, cwd=tmp_path) == paths


def test_a_link_to_nowhere_among_the_files_is_no_choice(tmp_path) -> None:
    """Some editors mark an open file by such a link."""
    (tmp_path / "own" / "algo").mkdir(parents=True)
    (tmp_path / "own" / "algo" / ".#mine.yaml").symlink_to("somebody@somewhere.1")
    assert completions(line="odfl run --config-dir own data.gam", cwd=tmp_path) == ["data.gamma="]
    assert "algo=.#mine" not in completions(line="odfl run --config-dir own algo=", cwd=tmp_path)


@pytest.mark.parametrize(
    ("line", "asked", "kept"),
    [
        ("odfl run ", "odfl ", ""),
        ("odfl run algo=a", "odfl algo=a", ""),
        ("odfl run algo=a,b data=c,d", "odfl algo=a data=d", "data=c,"),
        ("odfl run x=1 -m --config-dir d y=", "odfl x=1 y=", ""),
    ],
)
def test_the_question_for_hydra(line: str, asked: str, kept: str) -> None:
    assert question(line) == (asked, kept)


def test_the_directory_of_the_line() -> None:
    assert config_directory("odfl run --config-dir my/conf algo=") == ["--config-dir", "my/conf"]
    assert config_directory("odfl run --config-dir=my/conf algo=") == ["--config-dir", "my/conf"]
    assert config_directory("odfl run --config-dir my/co") == []


@pytest.mark.parametrize("shell_name", sorted(SHELLS))
def test_the_scripts_know_every_verb(tmp_path: Path, shell_name: str) -> None:
    done = odfl("completion", shell_name, cwd=tmp_path)
    assert " ".join(VERBS) in done.stdout


def test_an_unknown_shell(tmp_path: Path) -> None:
    done = odfl("completion", "fish", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "odfl: completion: name your shell, bash or zsh\n"
