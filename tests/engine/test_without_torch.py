"""Without torch, everything but modules works; what needs it says so in one line."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from odfl_cli.core.errors import report

REASON = "libcudart.so.12: cannot open shared object file"
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with everything that is installed here but torch."""
    home = tmp_path_factory.mktemp("without-torch")
    venv.create(home, symlinks=True)
    (packages,) = home.glob("lib/python*/site-packages")
    for folder in (Path(entry) for entry in sys.path if entry.endswith("site-packages")):
        for entry in folder.iterdir():
            link = packages / entry.name
            if not (entry.name.startswith("torch") or entry.suffix == ".pth" or link.exists()):
                link.symlink_to(entry)
    (packages / "odfl.pth").write_text(f"{REPOSITORY}\n")
    return home / "bin" / "python"


def call(python: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [python, *words], cwd=folder, env=environment, capture_output=True, text=True
    )


RUN = ("-m", "odfl_cli.cli", "run", "algo=df_ogd", "horizon=smoke", "seeds=1")


@pytest.mark.thorough
def test_the_command_line_runs_without_torch(python: Path, tmp_path: Path) -> None:
    assert call(python, tmp_path, "-c", "import torch").returncode == 1
    done = call(python, tmp_path, *RUN)
    assert done.returncode == 0, done.stderr
    (summary,) = tmp_path.glob("outputs/runs/*/summary.json")
    assert '"torch"' not in summary.read_text()


@pytest.mark.thorough
def test_python_runs_without_torch(python: Path, tmp_path: Path) -> None:
    program = (
        "from odfl_cli import run; print(len(run(algo='df_ogd', horizon='smoke', seeds=2).final))"
    )
    done = call(python, tmp_path, "-c", program)
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize(
    "choice", ["predictor=mlp", "engine=torch", "predictor=torch predictor.module=nets.Net"]
)
def test_what_needs_torch_is_refused_in_one_line(python: Path, tmp_path: Path, choice: str) -> None:
    done = call(python, tmp_path, *RUN, *choice.split())
    assert done.returncode in (1, 2)
    (line,) = done.stderr.splitlines()
    assert "No module named 'torch'" in line


def test_a_broken_torch_is_told_in_the_same_way(tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text(f"raise OSError({REASON!r})\n")
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}:{REPOSITORY}"}
    command = [sys.executable, *RUN, "engine=torch"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode in (1, 2)
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"odfl: torch cannot be imported ({REASON}), and this run needs it")


def test_a_missing_torch_is_told_in_the_same_way(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(ModuleNotFoundError("No module named 'torch'", name="torch")) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("odfl: torch cannot be imported (No module named 'torch')")
