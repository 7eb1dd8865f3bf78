"""Without torch, everything but modules works; what needs it says so in one line."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from support.samples import some_of

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


RUN = ("-m", "odfl_cli", "run", "algo=df_ogd", "horizon=smoke", "seeds=1")


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
    "choice",
    [
        "predictor=mlp",
        "engine=torch",
        "predictor=torch predictor.module=nets.Net",
        "-m engine=torch,array",
    ],
)
def test_what_needs_torch_is_refused_in_one_line(python: Path, tmp_path: Path, choice: str) -> None:
    done = call(python, tmp_path, *RUN, *choice.split())
    check_refusal(done, "No module named 'torch'")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.thorough
@pytest.mark.parametrize("choice", ["predictor='mlp'", "engine='torch'"])
def test_python_gets_the_same_line_as_an_error(python: Path, tmp_path: Path, choice: str) -> None:
    program = f"""
from odfl_cli import UserError, run
try:
    run({choice}, horizon="smoke", seeds=1)
except UserError as error:
    raise SystemExit(f"odfl: {{error}}")
"""
    done = call(python, tmp_path, "-c", program)
    assert done.stderr.startswith("odfl: torch cannot be imported (No module named 'torch')")


@pytest.mark.parametrize("choice", some_of(["engine=torch", "predictor=mlp"], 1))
def test_a_broken_torch_is_told_in_the_same_way(tmp_path: Path, choice: str) -> None:
    broken = tmp_path / "broken" / "torch"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text(f"raise OSError({REASON!r})\n")
    environment = os.environ | {"PYTHONPATH": f"{broken.parent}:{REPOSITORY}"}
    command = [sys.executable, *RUN, choice]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    check_refusal(done, REASON)
    assert [path.name for path in tmp_path.iterdir()] == ["broken"]


def check_refusal(done: subprocess.CompletedProcess[str], reason: str) -> None:
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"odfl: torch cannot be imported ({reason}), and this run needs it")
