"""What the guides show runs and is right."""

import importlib
import json
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from support.commands import REPOSITORY, odfl, odfl_process, run_directories
from support.documents import FILES, PARTS, RUNS, WITH_OWN_PARTS
from support.problems import finite_difference
from support.samples import marked

from odfl_cli import Learner


def test_parts_of_your_own_are_short() -> None:
    for name in PARTS:
        assert len(FILES[name].splitlines()) <= 33


REPRODUCED = "reproduce/conf"


@pytest.mark.thorough
@pytest.mark.parametrize("experiment", ["terrain", "prices", "emissions"])
def test_experiments_outside_the_package_compose_and_run(experiment: str, tmp_path: Path) -> None:
    words = ("--config-dir", REPRODUCED, f"experiment={experiment}", "algo=pf_ogd", "horizon=smoke")
    more = ("seeds=1", f"outputs={tmp_path}") if experiment == "terrain" else ("--cfg", "job")
    done = odfl_process("run", *words, *more, cwd=REPOSITORY)
    assert done.returncode == 0, done.stderr
    assert ("2 done" if experiment == "terrain" else f"grid_{experiment}") in done.stdout


@pytest.mark.thorough
def test_parts_of_your_own_run(written: Path) -> None:
    commands = [command for command in WITH_OWN_PARTS if REPRODUCED not in command]
    assert len(commands) == 4
    for command in commands:
        done = odfl("run", *command, "horizon=smoke", "seeds=2", cwd=written)
        assert done.returncode == 0, done.stderr
    summaries = [json.loads((run / "summary.json").read_text()) for run in run_directories(written)]
    by_algorithm = {summary["choices"]["algo"]: summary for summary in summaries}
    assert set(by_algorithm) == {"mine", "momentum", "follower", "df_ogd"}
    assert by_algorithm["follower"]["choices"]["oracle"] == "multistart"
    assert by_algorithm["mine"]["config"]["algo"]["rate"] == 0.005
    chosen = by_algorithm["df_ogd"]["choices"]
    parts = [chosen[group] for group in ("data", "polytope", "predictor")]
    assert parts == ["hills", "at_least", "softsign"]
    assert {summary["engine"] for summary in summaries} == {"array"}


def test_the_set_in_a_file_runs(written: Path) -> None:
    (command,) = (command for command in RUNS if "polytope.file=my_set.yaml" in command)
    done = odfl("run", *command, "horizon=smoke", "seeds=1", cwd=written)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("polytope", ["polytope=solver", "polytope=model"])
def test_the_solvers_of_the_guide_run(polytope: str, written: Path) -> None:
    command, *_ = (command for command in RUNS if polytope in command)
    done = odfl("run", *command, "algo=ogd", "horizon.rounds=6", "seeds=1", cwd=written)
    assert done.returncode == 0, done.stderr
    (file, *_) = sorted(written.rglob("seed-0.csv"))
    rounds = pd.read_csv(file)
    assert (rounds["cost"] >= rounds["best_cost"] - 1e-9).all()


@pytest.mark.parametrize(
    "script",
    marked(
        ["first", "notebook", "gammas", "own_parts", "with_a_module", "learnt", "with_pyepo"],
        "first".__eq__,
    ),
)
def test_scripts_run(script: str, written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(written / f"{script}.py"))
    assert capsys.readouterr().out


@pytest.mark.thorough
def test_a_loop_that_is_killed_goes_on_to_the_last_bit(written: Path) -> None:
    def loop(*words: str) -> int:
        return subprocess.run([sys.executable, "loop.py", *words], cwd=written).returncode

    saved = written / "shop.safetensors"
    assert loop("500", "250") == -signal.SIGKILL
    assert Learner.load(saved).rounds_ == 200
    assert loop("500", "-1") == 0
    continued = saved.read_bytes()
    saved.unlink()
    assert loop("500", "-1") == 0
    assert saved.read_bytes() == continued
    runpy.run_path(str(written / "compare.py"))
    assert (written / "shop.png").stat().st_size > 10_000


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
