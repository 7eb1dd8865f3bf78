"""The bound, the oracle's answers and broken assumptions beside the measured regret."""

import json
import logging
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from support.commands import odfl, run_directories
from support.problems import composed_job, make_job

from odfl_cli.algorithms.df_ftpl import DFFTPL
from odfl_cli.algorithms.df_ogd import DFOGD
from odfl_cli.algorithms.gradient import PFOGD
from odfl_cli.metrics.regret import NOT_COVERED, Regret
from odfl_cli.metrics.theory.bound import known_margin, measure_constants
from odfl_cli.metrics.theory.sample import Sample, largest_slope, on_the_sphere, slopes
from odfl_cli.metrics.theory.theorems import broken_assumptions, df_ftpl_bound, df_ogd_bound
from odfl_cli.runs.simulate import simulate

QUICK = Regret(sample=50, evaluations=8, starts=3, steps=2)
EXAMINED = replace(QUICK, oracle=4)
ORACLE_COLUMNS = ("oracle_before", "oracle_after", "xi")


def of_all_rounds(job, seed):
    """The constants on every round of the seed."""
    problem, T = job.algorithm.problem, job.horizon.rounds
    X, costs = job.environment.rounds((seed,), 0, T)
    known = measure_constants(Sample(problem, X[0], costs[0], on_the_sphere(problem, T)))
    return replace(known, margin=known_margin(problem, job.environment))


@pytest.mark.parametrize("algo", ["df_ogd", "df_ftpl"])
def test_the_bound_is_the_theorem_on_the_notes(algo):
    """Up to MAX_ROUNDS rounds, all of them tell the constants."""
    job = composed_job(f"algo={algo}", "seeds=2", "horizon.rounds=30", "data.features=3")
    table = simulate(replace(job, metrics=QUICK)).table
    rows = ~np.isnan(table["bound"][0])
    assert (rows == ~np.isnan(table["static_regret"][0])).all()
    t = table["t"][0, rows]
    for row, seed in enumerate(job.seeds):
        noted = [table[name][row, rows] for name in ("alpha", "eta", "path_length")]
        known = of_all_rounds(job, seed)
        ogd = algo == "df_ogd"
        average = df_ogd_bound(known, t, *noted) if ogd else df_ftpl_bound(known, t, *noted[:2])
        np.testing.assert_allclose(table["bound"][row, rows], t * average, rtol=1e-12)
    regret = table["dynamic_regret" if algo == "df_ogd" else "expected_static_regret"]
    assert (table["bound"][:, rows] > regret[:, rows]).all()


@pytest.mark.parametrize("algo", ["df_ogd", "df_ftpl"])
def test_the_bound_has_the_mean_error_of_the_oracle(algo):
    """The mean is over the rounds examined so far; the bound on the sum grows by t times it."""
    job = composed_job(f"algo={algo}", "seeds=2", "horizon.rounds=30", "data.features=3")
    without = simulate(replace(job, metrics=QUICK)).table["bound"]
    table = simulate(replace(job, metrics=EXAMINED)).table
    for row in range(2):
        for place in np.flatnonzero(~np.isnan(without[0])):
            mean = np.nanmean(table["xi"][row, : place + 1])
            expected = without[row, place] + table["t"][row, place] * mean
            assert table["bound"][row, place] == pytest.approx(expected, rel=1e-12)
    assert (table["bound"][:, -1] > without[:, -1]).all()


@dataclass(frozen=True)
class Unheard:
    """A regulariser of one's own, whose steepness nobody knows."""

    inner: object

    def __getattr__(self, name):
        if name not in {"suboptimality", "smooth", "vjp"}:
            raise AttributeError(name)
        return getattr(self.inner, name)


def test_beside_the_theorems_there_is_no_bound():
    """Another algorithm, a step at a fixed point, regularisers without a theorem."""
    small = ("seeds=1", "horizon.rounds=20", "data.features=3")
    chosen = ("algo=pf_ogd", "algo.delta=1", "regularizer=quadratic")
    jobs = [composed_job(choice, *small) for choice in chosen]
    job = make_job(DFOGD, rounds=20)
    problem = job.algorithm.problem
    problem = replace(problem, regularizer=Unheard(problem.regularizer))
    jobs.append(replace(job, algorithm=replace(job.algorithm, problem=problem)))
    for uncovered in jobs:
        assert np.isnan(simulate(replace(uncovered, metrics=QUICK)).table["bound"]).all()
    unasked = replace(job, metrics=replace(QUICK, bound=False))
    assert "bound" not in simulate(unasked).table


@pytest.mark.parametrize("algo", ["df_ogd", "df_ftpl"])
def test_inexact_decisions_add_their_term_to_the_bound(algo):
    """κ changes no update, so that the bounds of the same rounds differ by the term times t."""
    small = (f"algo={algo}", "seeds=2", "horizon.rounds=20", "data.features=3", "engine=array")
    exact, inexact = (
        simulate(replace(composed_job(f"kappa={kappa}", *small), metrics=QUICK)).table
        for kappa in (0, 0.1)
    )
    t, added = exact["t"], inexact["bound"] - exact["bound"]
    known = ~np.isnan(added)
    each = (added / t)[known].reshape(2, -1)
    assert (each > 0).all()
    np.testing.assert_allclose(each, each[:, :1].repeat(each.shape[1], 1))


@pytest.mark.parametrize("shape", [(30, 5, 3), (30, 3, 7), (30, 4, 1), (1, 2, 2)])
def test_slopes_of_a_linear_predictor_are_singular_values(shape):
    X = np.random.default_rng(1).normal(size=shape)
    problem = make_job(DFOGD, items=shape[1], features=shape[2]).algorithm.problem
    sample = Sample(problem, X, X[..., 0], on_the_sphere(problem, len(X)))
    values = np.linalg.norm(X, ord=2, axis=(-2, -1))
    np.testing.assert_allclose(slopes(sample), values)
    assert largest_slope(sample) == pytest.approx(values.max())


@pytest.mark.parametrize("algo", ["df_ogd", "df_ftpl"])
def test_the_oracle_is_examined_at_some_rounds(algo):
    job = composed_job(f"algo={algo}", "seeds=2", "horizon.rounds=30", "data.features=4")
    result = simulate(replace(job, metrics=EXAMINED))
    columns = {name: result.table[name] for name in ORACLE_COLUMNS}
    examined = ~np.isnan(columns["xi"][0])
    evaluated = ~np.isnan(result.table["dynamic_regret"][0])
    assert examined.sum() == 4
    assert (evaluated[examined]).all()
    assert examined[[0, -1]].all()
    for values in columns.values():
        assert (np.isfinite(values) == examined).all()
    before, after, xi = (values[:, examined] for values in columns.values())
    assert (xi >= 0).all()
    assert (before >= after).mean() > 0.7  # descents on samples, with steps of a given length
    assert 0 < result.report["oracle_share"] <= 1


@pytest.mark.parametrize("algorithm", [DFOGD, DFFTPL])
def test_asking_the_oracle_changes_no_other_column(algorithm):
    job = make_job(algorithm, rounds=40)
    plain, examined = (simulate(replace(job, metrics=m)).table for m in (QUICK, EXAMINED))
    assert set(examined) - set(plain) == set(ORACLE_COLUMNS)
    del plain["bound"]  # which is greater by ξ
    for name, values in plain.items():
        np.testing.assert_array_equal(values, examined[name], err_msg=name)


def test_without_an_oracle_its_columns_stay_empty():
    result = simulate(replace(make_job(PFOGD, rounds=20), metrics=EXAMINED))
    for name in ORACLE_COLUMNS:
        assert np.isnan(result.table[name]).all()
    assert "oracle_share" not in result.report


def test_broken_assumptions_are_reported_and_logged(caplog):
    caplog.set_level(logging.INFO, "odfl")
    job = composed_job("algo=df_ogd", "seeds=2", "horizon.rounds=80", "oracle.lr=0.3")
    result = simulate(replace(job, metrics=QUICK))
    lines = result.report["broken_assumptions"]
    noted = {name: result.table[name] for name in ("eta", "path_length")}
    assert lines == broken_assumptions(noted, result.table["t"][0].astype(int))
    assert len(lines) == 2
    logged = [record.getMessage() for record in caplog.records]
    assert [f"df_ogd: {line}" for line in lines] == logged
    assert result.report["remarks"] == [NOT_COVERED]
    unbounded = simulate(replace(job, metrics=replace(QUICK, bound=False)))
    assert unbounded.report["remarks"] == []  # the remark is on the column `bound`
    assert simulate(replace(make_job(PFOGD), metrics=QUICK)).report["broken_assumptions"] == []


def test_a_full_run_from_the_shell(tmp_path: Path) -> None:
    chosen = ("metrics=full", "metrics.evaluations=6", "metrics.steps=2", "metrics.sample=50")
    done = odfl("run", "algo=df_ogd", "horizon=smoke", "seeds=2", *chosen, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (directory,) = run_directories(tmp_path)
    summary = json.loads((directory / "summary.json").read_text())
    assert 0 < summary["oracle_share"] <= 1
    log = (directory / "run.log").read_text()
    assert all(line in log for line in summary["broken_assumptions"])
    header, *rows = (directory / "seed-1.csv").read_text().splitlines()
    last = dict(zip(header.split(","), rows[-1].split(","), strict=True))
    for name in (*ORACLE_COLUMNS, "bound", "theta_norm"):
        assert np.isfinite(float(last[name])), name


def test_the_constants_behind_the_bound_are_in_the_report():
    """G and D_Z are the largest seen on the seed's own rounds; n is the regulariser's."""
    job = make_job(DFOGD, seeds=(3, 8), rounds=60)
    report = simulate(replace(job, metrics=EXAMINED)).report["bound"]
    rounds, problem = job.environment.rounds(job.seeds, 0, 60), job.algorithm.problem
    for row, seed in enumerate(("3", "8")):
        costs = np.linalg.norm(rounds.costs[row], axis=-1)
        slopes = np.linalg.norm(rounds.X[row], ord=2, axis=(-2, -1))
        assert report["D_Z"][seed] == pytest.approx(costs.max())
        assert report["G"][seed] == pytest.approx(slopes.max())
        assert report["n"][seed] == problem.regularizer.suboptimality
        assert report["C_0"][seed] > 0
        assert 0 <= report["beta"][seed] <= 1
        assert report["xi"][seed] >= 0
    unexamined = simulate(replace(job, metrics=QUICK)).report["bound"]
    assert set(unexamined) == {"G", "D_Z", "n", "C_0", "beta"}
    assert "bound" not in simulate(replace(make_job(PFOGD), metrics=QUICK)).report
