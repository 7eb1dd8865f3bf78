"""What the README shows is what happens."""

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.optimize import linprog
from support.commands import REPOSITORY, odfl, run_directories
from support.problems import finite_difference

README = (REPOSITORY / "README.md").read_text()
FILES = dict(re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", README, re.S))


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A folder with all files of the guide."""
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return tmp_path


def commands() -> list[list[str]]:
    return [line.split() for line in re.findall(r"^odfl (run --config-dir .*)$", README, re.M)]


def test_the_guide_is_short() -> None:
    pieces = [content for name, content in FILES.items() if name.startswith("my_") and "py" in name]
    assert len(pieces) == 4
    for content in pieces:
        assert len(content.splitlines()) <= 25


def test_everything_in_the_guide_runs(written: Path) -> None:
    shown = commands()
    assert len(shown) == 2
    for command in shown:
        done = odfl(*command, "horizon=smoke", "seeds=2", cwd=written)
        assert done.returncode == 0, done.stderr
    summaries = [json.loads((run / "summary.json").read_text()) for run in run_directories(written)]
    choices = [summary["choices"] for summary in summaries]
    assert {choice["algo"] for choice in choices} == {"mine", "df_ogd"}
    (own,) = (choice for choice in choices if choice["algo"] == "df_ogd")
    assert (own["data"], own["polytope"], own["predictor"]) == ("hills", "at_most", "saturated")
    (mine,) = (summary for summary in summaries if summary["choices"]["algo"] == "mine")
    assert mine["config"]["algo"]["rate"] == 0.005
    assert {summary["engine"] for summary in summaries} == {"torch"}


def test_the_notebook_runs(written: Path) -> None:
    environment = os.environ | {"PYTHONPATH": f"{written}{os.pathsep}{REPOSITORY}"}
    command = [sys.executable, "notebook.py"]
    done = subprocess.run(command, cwd=written, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "avg_mse" in done.stdout


def test_the_polytope_of_the_guide_is_right(written: Path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(written))
    polytope = importlib.import_module("my_polytope").AtMost(dimension=5, k=2)
    A, b = polytope.faces()
    for costs in np.random.default_rng(0).normal(size=(50, 5)):
        w = polytope.minimise(costs)
        best = linprog(costs, A, b, bounds=(None, None)).fun
        assert polytope.contains(w)
        assert costs @ w == pytest.approx(best, abs=1e-9)


def test_the_predictor_of_the_guide_is_right(written: Path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(written))
    predictor = importlib.import_module("my_predictor").Saturated()
    rng = np.random.default_rng(0)
    theta, X, v = rng.normal(size=3), rng.normal(size=(4, 3)), rng.normal(size=4)
    numeric = finite_difference(lambda at: float(v @ predictor.predict(at, X)), theta)
    np.testing.assert_allclose(predictor.vjp(theta, X, v), numeric, atol=1e-8)


def test_every_choice_and_group_is_in_the_table() -> None:
    table = README.split("## Configuration")[1].split("### Files")[0]
    conf = REPOSITORY / "conf"
    for choice in conf.glob("*/**/*.yaml"):
        group = choice.parent.relative_to(conf).as_posix()
        if not group.endswith("_for"):
            assert f"`{group}`" in table
            assert f"`{choice.stem}`" in table


def test_every_key_it_names_exists() -> None:
    table = README.split("## Configuration")[1].split("### Files")[0]
    for group, key in re.findall(r"`(\w+)\.(\w+)`", table):
        files = (REPOSITORY / "conf" / group).glob("*.yaml")
        assert any(key in yaml.safe_load(file.read_text()) for file in files), f"{group}.{key}"


def test_every_picture_it_shows_exists() -> None:
    pictures = re.findall(r"!\[.*?\]\((\S+)\)", README)
    assert pictures
    for picture in pictures:
        assert (REPOSITORY / picture).read_bytes().startswith(b"\x89PNG")
