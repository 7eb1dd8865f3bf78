"""Optuna looks for DF-OGD's constants."""

import json
import re
from pathlib import Path

import pytest
from support.commands import odfl_process, run_directories

pytest.importorskip("optuna", reason="needs the extra search: make test-launchers")

TRIALS = 4
SEARCH = (
    "run",
    "experiment=search_df_ogd",
    f"hydra.sweeper.n_trials={TRIALS}",
    "horizon=smoke",
    "seeds=2",
)


def test_the_best_trial_is_the_cheapest_run(tmp_path: Path) -> None:
    done = odfl_process(*SEARCH, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summaries = [
        json.loads((run / "summary.json").read_text()) for run in run_directories(tmp_path)
    ]
    assert len(summaries) == TRIALS
    constants = [summary["config"]["algo"] for summary in summaries]
    assert all(0.1 <= algo["c_alpha"] <= 10 and 0.01 <= algo["c_eta"] <= 1 for algo in constants)
    costs = [summary["final"]["avg_cost"]["mean"] for summary in summaries]
    (best,) = re.findall(r"Best value: (\S+)", done.stdout)
    assert float(best) == min(costs)
    assert str(constants[costs.index(min(costs))]["c_alpha"]) in done.stdout


def test_a_search_is_repeatable_and_computes_nothing_twice(tmp_path: Path) -> None:
    first, second = (odfl_process(*SEARCH, cwd=tmp_path) for _ in range(2))
    assert f"{TRIALS} jobs: {TRIALS} done, 0 skipped" in first.stdout
    assert f"{TRIALS} jobs: 0 done, {TRIALS} skipped" in second.stdout
    best = re.compile(r"Best value: .*")
    assert best.findall(first.stdout) == best.findall(second.stdout)
