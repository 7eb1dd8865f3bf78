"""Columns of the CSV against direct computation."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands import odfl, run_directories
from support.problems import composed_job, random_rounds

from odfl_cli.core.errors import UserError
from odfl_cli.engine.base import Trace
from odfl_cli.engine.mixture_engine import as_vectors
from odfl_cli.environments.base import mean_costs
from odfl_cli.metrics.base import COLUMNS, BasicRecorder, PlayedBlock
from odfl_cli.metrics.metric import Metric
from odfl_cli.runs.build import check_objective
from odfl_cli.runs.simulate import simulate

T = 60


def run(logged: np.ndarray, cuts: list[int]) -> tuple[dict[str, np.ndarray], Trace, np.ndarray]:
    rng = np.random.default_rng(0)
    trace, best = Trace(rng.random((3, T)), rng.random((3, T)), {}), -rng.random((3, T))
    metrics = BasicRecorder(logged)
    rounds = random_rounds(3, T, 2, 1)
    for start, stop in zip([0, *cuts], [*cuts, T], strict=True):
        part = slice(start, stop)
        piece = Trace(trace.cost[:, part], trace.mse[:, part], {})
        metrics.add(PlayedBlock(start, rounds, piece, best[:, part]))
    return metrics.table(), trace, best


cut_lists = st.lists(st.integers(1, T - 1), max_size=6, unique=True).map(sorted)
logged_rounds = st.lists(st.integers(1, T), min_size=1, max_size=T, unique=True).map(sorted)


@given(logged=logged_rounds, cuts=cut_lists)
def test_columns_by_direct_computation(logged, cuts):
    table, trace, best = run(np.array(logged), cuts)
    assert tuple(table) == COLUMNS
    for s in range(3):
        for row, t in enumerate(logged):
            cost, mse = trace.cost[s, :t], trace.mse[s, :t]
            expected = {
                "t": t,
                "cost": cost[-1],
                "avg_cost": np.mean(cost),
                "mse": mse[-1],
                "avg_mse": np.mean(mse),
                "best_cost": best[s, t - 1],
                "regret": np.sum(cost) - np.sum(best[s, :t]),
            }
            for name, value in expected.items():
                assert table[name][s, row] == pytest.approx(value, rel=1e-12), name


@given(logged=logged_rounds, cuts=cut_lists)
def test_blocks_and_thinning_change_no_digit(logged, cuts):
    cut, _, _ = run(np.array(logged), cuts)
    whole, _, _ = run(np.arange(1, T + 1), [])
    rows = np.array(logged) - 1
    for name in COLUMNS:
        np.testing.assert_array_equal(cut[name], whole[name][:, rows])


LAWS = [
    ("algo=df_ogd", "data.gamma=0.5"),
    ("algo=rls", "data.drift=switching", "data.drift_period=150", "data.features_law=student"),
    ("algo=spo", "data=polynomial", "data.drift_weight=0.3", "data.items=6"),
    ("algo=vote", "algo.experts=[spo,rls]"),
]


@pytest.mark.parametrize("words", LAWS, ids=" ".join)
def test_mean_costs_are_costs_without_their_noise(words):
    """Realised costs differ from E⟨c, w⟩ by a martingale difference: of mean 0, and of most of the variance."""
    table = simulate(
        composed_job("horizon.rounds=400", "seeds=3", "horizon.rows=400", *words)
    ).table
    noise = table["cost"] - table["mean_cost"]
    assert abs(noise.mean()) < 4 * noise.std() / noise.size**0.5
    assert noise.std() > 0.05 * table["cost"].std()
    average = np.cumsum(table["mean_cost"], axis=1) / table["t"]
    np.testing.assert_allclose(table["avg_mean_cost"], average)


def test_a_decision_is_scored_by_its_item_or_as_a_vector():
    job = composed_job("algo=spo", "data.items=4", "horizon.rounds=30", "seeds=2")
    env, seeds, item = job.environment, job.seeds, np.arange(60).reshape(2, 30) % 4
    X = env.rounds(seeds, 5, 35).X
    one = mean_costs(env, seeds, 5, X, item)
    np.testing.assert_array_equal(one, mean_costs(env, seeds, 5, X, as_vectors(item, 4)))
    other = mean_costs(env, seeds, 5, X, 3 - item)
    mixed = (as_vectors(item, 4) + 2 * as_vectors(3 - item, 4)) / 3
    np.testing.assert_allclose(mean_costs(env, seeds, 5, X, mixed), (one + 2 * other) / 3)


SMALL = ("horizon.rounds=12", "seeds=2", "data.features=3")
BARRIER = ("regularizer=log_barrier", "polytope=box", "data.items=3")
QUICK = ("metrics.sample=50", "metrics.steps=2", "metrics.repeats=2")


@pytest.mark.parametrize(
    ("choice", "chosen", "of_the_parts"),
    [
        ("basic", (), ()),
        ("basic", BARRIER, ()),
        ("regret", ("algo=pf_ogd",), ()),
        ("regret", ("kappa=0.1",), ("kappa_gap",)),
        ("full", (), ()),
        pytest.param("full", ("algo=df_ftpl",), (), marks=pytest.mark.thorough),
        pytest.param("full", BARRIER, (), marks=pytest.mark.thorough),
    ],
)
def test_metrics_announce_the_columns_that_they_write(choice, chosen, of_the_parts):
    """All that have values after the last round, and no others."""
    job = composed_job(f"metrics={choice}", *SMALL, *chosen, *(QUICK if choice != "basic" else ()))
    table = simulate(job).table
    written = {name for name, values in table.items() if np.isfinite(values[:, -1]).all()}
    assert written == set(job.metrics.columns(job.environment, job.algorithm))
    assert {"kappa_gap"} & set(table) == set(of_the_parts)
    for name in of_the_parts:
        assert (table[name] >= 0).all()
        assert table[name].max() > 0


@pytest.mark.parametrize(
    ("column", "chosen"), [("alpha", ()), ("bound", ()), ("xi", ("metrics.oracle=2",))]
)
def test_an_objective_that_the_algorithm_has_not_is_refused(column, chosen):
    job = composed_job("metrics=regret", "algo=pf_ogd", *SMALL, *chosen)
    with pytest.raises(UserError, match=f"objective={column}: there is no such column"):
        check_objective(column, job)
    check_objective("dynamic_regret", job)


HITS = """
from odfl_cli import Metric, settings


@settings
class Hits(Metric):
    adds = ("hit", "avg_hit", "first")

    def measure(self, block):
        return {"hit": block.trace.cost <= block.best_cost}

    def examine(self, algorithm, before):
        return {"first": before.state.theta[:, 0]}
"""


def test_a_metric_is_one_class_in_one_file(tmp_path: Path) -> None:
    """On the command line it replaces basic; its columns are of all rounds and of the state."""
    (tmp_path / "hits.py").write_text(HITS)
    chosen = ("algo=df_ogd", "horizon.rounds=40", "horizon.rows=8", "seeds=2")
    done = odfl("run", "metrics._target_=hits.Hits", *chosen, "objective=avg_hit", cwd=tmp_path)
    assert "average hit" in done.stdout
    assert done.returncode == 0, done.stderr
    (directory,) = run_directories(tmp_path)
    found = np.genfromtxt(directory / "seed-1.csv", delimiter=",", names=True)
    every = simulate(composed_job(*chosen[:2], chosen[3])).table
    hits = every["cost"][1] <= every["best_cost"][1]
    rows = found["t"].astype(int) - 1
    np.testing.assert_array_equal(found["hit"], hits[rows])
    np.testing.assert_array_equal(found["avg_hit"], (np.cumsum(hits) / np.arange(1, 41))[rows])
    before = simulate(composed_job(chosen[0], "horizon.rounds=39", chosen[3])).state
    assert found["first"][-1] == pytest.approx(before.theta[1, 0])


class Gap(Metric):
    adds = ("gap", "avg_gap")

    def measure(self, block: PlayedBlock) -> dict[str, np.ndarray]:
        return {"gap": block.trace.cost - block.best_cost}


def test_a_metric_is_added_to_any_other_and_blocks_change_no_digit():
    regret = composed_job("metrics=regret", *SMALL)
    job = replace(regret, metrics=Gap(of=regret.metrics))
    table, cut = simulate(job).table, simulate(job, block=5).table
    assert tuple(table) == (*simulate(regret).table, "gap", "avg_gap")
    np.testing.assert_allclose(table["avg_gap"] * table["t"], table["regret"], rtol=1e-12)
    for name, values in cut.items():
        np.testing.assert_array_equal(values, table[name])


def test_a_metric_that_measures_other_columns_than_it_adds_is_refused(monkeypatch):
    monkeypatch.setattr(Gap, "adds", ("gap", "miss"))
    job = replace(composed_job(*SMALL), metrics=Gap())
    with pytest.raises(UserError, match="Gap: adds is gap, miss, and the columns measured are gap"):
        simulate(job)
