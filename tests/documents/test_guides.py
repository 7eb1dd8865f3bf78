"""What the guides show runs and is right."""

import importlib
import json
import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog
from support.commands import odfl, run_directories
from support.documents import FILES, PARTS, RUNS, WITH_OWN_PARTS
from support.problems import finite_difference


def test_parts_of_your_own_are_short() -> None:
    for name in PARTS:
        assert len(FILES[name].splitlines()) <= 25


@pytest.mark.thorough
def test_parts_of_your_own_run(written: Path) -> None:
    assert len(WITH_OWN_PARTS) == 3
    for command in WITH_OWN_PARTS:
        done = odfl("run", *command, "horizon=smoke", "seeds=2", cwd=written)
        assert done.returncode == 0, done.stderr
    summaries = [json.loads((run / "summary.json").read_text()) for run in run_directories(written)]
    by_algorithm = {summary["choices"]["algo"]: summary for summary in summaries}
    assert set(by_algorithm) == {"mine", "follower", "df_ogd"}
    assert by_algorithm["follower"]["choices"]["oracle"] == "multistart"
    assert by_algorithm["mine"]["config"]["algo"]["rate"] == 0.005
    chosen = by_algorithm["df_ogd"]["choices"]
    assert (chosen["data"], chosen["polytope"], chosen["predictor"]) == (
        "hills",
        "at_least",
        "softsign",
    )
    assert {summary["engine"] for summary in summaries} == {"array"}


def test_the_set_in_a_file_runs(written: Path) -> None:
    (command,) = (command for command in RUNS if "polytope.file=my_set.yaml" in command)
    done = odfl("run", *command, "horizon=smoke", "seeds=1", cwd=written)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "script",
    [
        "first.py",
        "notebook.py",
        "mixed.py",
        "gammas.py",
        "own_parts.py",
        "with_a_module.py",
        "learnt.py",
    ],
)
def test_scripts_run(script: str, written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(written / script))
    assert capsys.readouterr().out


@pytest.mark.thorough
def test_a_sweep_is_read_back(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (command,) = (command for command in RUNS if "sweep=first" in command)
    done = odfl("run", *command, cwd=written)
    assert done.returncode == 0, done.stderr
    runpy.run_path(str(written / "reading.py"))
    assert "avg_cost" in capsys.readouterr().out


def test_the_polytope_of_the_guide_is_right(written: Path) -> None:
    polytope = importlib.import_module("my_polytope").AtLeast(dimension=5, k=2)
    A, b = polytope.faces()
    for costs in np.random.default_rng(0).normal(size=(50, 5)):
        w = polytope.minimise(costs)
        best = linprog(costs, A, b, bounds=(None, None)).fun
        assert polytope.contains(w)
        assert costs @ w == pytest.approx(best, abs=1e-9)


def test_the_predictor_of_the_guide_is_right(written: Path) -> None:
    predictor = importlib.import_module("my_predictor").Softsign()
    rng = np.random.default_rng(0)
    theta, X, v = rng.normal(size=3), rng.normal(size=(4, 3)), rng.normal(size=4)
    numeric = finite_difference(lambda at: float(v @ predictor.predict(at, X)), theta)
    np.testing.assert_allclose(predictor.vjp(theta, X, v), numeric, atol=1e-8)
