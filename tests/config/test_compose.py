"""Launchers and sweepers that have to be installed first."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from support.commands import REPOSITORY
from support.problems import composed

from odfl_cli.config.compose import EXTRAS

WITHOUT = "import sys; sys.modules[sys.argv[1]] = None; from odfl_cli.cli import main; sys.exit(main(sys.argv[2:]))"
"""Python takes a package that is None in sys.modules for one that is not there."""


@pytest.mark.parametrize("choice", EXTRAS)
def test_a_missing_one_is_named_with_its_extra(tmp_path: Path, choice: str) -> None:
    package, extra = EXTRAS[choice]
    command = ["run", "-m", "algo=uniform,pf_ogd", "horizon=smoke", choice]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, package, *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr == f"odfl: {choice}: not installed; pip install 'odfl[{extra}]' brings it\n"
    assert list(tmp_path.iterdir()) == []


def test_every_extra_it_names_exists() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert {extra for _, extra in EXTRAS.values()} <= project["optional-dependencies"].keys()


def test_every_preset_is_known_and_composes() -> None:
    presets = [
        f"hydra/{path.parent.name}={path.stem}"
        for group in ("launcher", "sweeper")
        for path in (REPOSITORY / "conf" / "hydra" / group).glob("*.yaml")
    ]
    assert sorted(presets) == sorted(EXTRAS)
    for preset in presets:
        group, choice = preset.removeprefix("hydra/").split("=")
        hydra = composed(preset, hydra=True).hydra
        assert hydra.runtime.choices[f"hydra/{group}"] == choice
        assert hydra[group]._target_.startswith("hydra_plugins.")
        if group == "launcher":
            assert int(hydra.job.env_set.ODFL_THREADS) >= 1
