"""The package as pip installs it: conf/ travels inside the wheel."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import constraints
import pytest
from packaging.utils import canonicalize_name
from support.commands import REPOSITORY
from support.samples import marked


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's content, as site-packages would hold it."""
    place = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
    subprocess.run(build, cwd=REPOSITORY, check=True, capture_output=True)
    (wheel,) = place.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(place / "site")
    return place / "site"


@pytest.mark.thorough
@pytest.mark.parametrize("engine", marked(["torch", "compiled"], "torch".__eq__))
def test_runs_from_any_directory_without_the_repository(
    engine: str, unpacked: Path, tmp_path: Path
) -> None:
    """Kernels of another place are compiled anew."""
    assert {p.name for p in unpacked.iterdir()} >= {"odfl_cli"}
    assert (unpacked / "odfl_cli" / "py.typed").exists()
    command = [
        sys.executable,
        "-m",
        "odfl_cli",
        "run",
        "algo=df_ogd",
        f"engine={engine}",
        "horizon=smoke",
        "seeds=1",
    ]
    environment = os.environ | {"PYTHONPATH": str(unpacked)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (config,) = tmp_path.rglob(".hydra/hydra.yaml")
    assert str(unpacked / "odfl_cli" / "conf") in config.read_text()
    assert len(list(tmp_path.rglob("seed-0.csv"))) == 1
    assert f"engine {engine}" in next(tmp_path.rglob("run.log")).read_text()


def test_the_report_brings_its_page(unpacked: Path) -> None:
    installed = {path.name for path in (unpacked / "odfl_cli/report/assets").iterdir()}
    assert installed == {path.name for path in (REPOSITORY / "odfl_cli/report/assets").iterdir()}


def test_every_dependency_has_a_version_that_its_range_allows() -> None:
    lines = (REPOSITORY / "constraints.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    for requirement in constraints.requirements_of("dev"):
        pin = pins[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(pin), requirement
