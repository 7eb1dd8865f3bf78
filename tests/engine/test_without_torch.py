"""Where torch is missing or broken: compiled algorithms run, and what needs torch says so."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from odfl_cli.core.errors import report

REASON = "libcudart.so.12: cannot open shared object file"


def run(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, whose torch raises when it is imported."""
    (tmp_path / "torch").mkdir(exist_ok=True)
    (tmp_path / "torch" / "__init__.py").write_text(f"raise OSError({REASON!r})\n")
    command = [sys.executable, "-m", "odfl_cli.cli", "run", "algo=df_ogd", "seeds=1", *words]
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[2]}"}
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)


@pytest.mark.thorough
def test_a_compiled_algorithm_runs_with_a_broken_torch(tmp_path: Path) -> None:
    done = run(tmp_path, "horizon=smoke")
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("outputs/runs/*/summary.json"))


def test_what_needs_torch_says_so_in_one_line(tmp_path: Path) -> None:
    done = run(tmp_path, "horizon=smoke", "engine=torch")
    assert done.returncode in (1, 2)
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"odfl: torch cannot be imported ({REASON}), and this run needs it")


def test_a_missing_torch_is_told_in_the_same_way(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(ModuleNotFoundError("No module named 'torch'", name="torch")) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("odfl: torch cannot be imported (No module named 'torch')")
