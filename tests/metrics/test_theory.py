"""Assumptions, lemmas on sampled rounds, wrong beliefs, and the report on the oracle."""

from dataclasses import replace

import numpy as np
import pytest
from support.problems import block_of, composed_job, make_problem

from odfl_cli.algorithms.df_ftpl import DFFTPL, SizesBelief
from odfl_cli.metrics.base import RoundStart
from odfl_cli.metrics.theory.oracle_report import oracle_report
from odfl_cli.metrics.theory.sample import Sample, sample_rounds
from odfl_cli.metrics.theory.theorems import broken_assumptions
from odfl_cli.problem.oracles.descent import SGD
from odfl_cli.problem.oracles.exact import Exact
from odfl_cli.problem.oracles.lbfgs import LBFGS
from odfl_cli.runs.simulate import simulate
from reproduce.claims.lemmas import (
    check_distance,
    check_expected_distance,
    check_lipschitz,
    check_randomised_point,
    check_suboptimality,
    convexity_gap,
)

# ---- assumptions ----


def test_schedules_as_the_theorem_wants_them_break_nothing():
    t = np.arange(1, 50)
    path = np.stack([0.0 * t, np.sqrt(t) - 1])
    assert broken_assumptions({"path_length": path, "eta": ((1 + path) / t) ** 0.75}) == []
    for without_path in ({"eta": np.arange(18.0).reshape(2, 9)}, {}):
        assert broken_assumptions(without_path) == []


def test_what_rises_is_named_with_where_and_how_often():
    """Seed 1 jumps by 4 into round 3: (1 + P)/t is 1, 1/2, 5/3, 5/4, …"""
    path = np.array([[0.0] * 5, [0.0, 0.0, 4.0, 4.0, 4.0]])
    eta = np.array([[5.0, 4.0, 3.0, 2.0, 1.0]] * 2)
    (line,) = broken_assumptions({"path_length": path, "eta": eta})
    assert line.startswith("(1 + P_t)/t should be non-increasing")
    assert "12%" in line  # one step of eight
    assert "round 3" in line
    assert "1 of 2 seeds" in line
    (rate,) = broken_assumptions({"path_length": 0 * path, "eta": eta[:, ::-1]})
    assert rate.startswith("η_t should be non-increasing")
    at = np.array([1, 2, 10, 20, 40])  # at the logged rounds the same path is slow enough
    assert broken_assumptions({"path_length": path, "eta": eta}, at) == []


# ---- lemmas on sampled rounds ----

SETS = {
    "entropy": (),
    "log_barrier": ("regularizer=log_barrier",),
    "quadratic": ("regularizer=quadratic",),
    "knapsack": ("polytope=knapsack", "regularizer=log_barrier"),
    "paths": ("polytope=shortest_path", "polytope.rows=3", "polytope.columns=3", "data.items=12",
              "regularizer=log_barrier"),
    "box": ("polytope=box", "regularizer=quadratic", "data=polynomial", "data.items=5"),
}  # fmt: skip


def draw_sample(*overrides: str) -> Sample:
    job = composed_job(*overrides, "seeds=3", "horizon.rounds=200")
    return sample_rounds(job.environment, job.algorithm.problem, job.seeds, size=150)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("alpha", [0.05, 1.0])
def test_lemmas_hold_on_every_sampled_round(name, alpha):
    sample = draw_sample(*SETS[name])
    assert 0.001 < check_lipschitz(sample, alpha) <= 1
    assert 0.001 < check_suboptimality(sample, alpha) <= 1 + 1e-9


def test_costs_of_zero_have_no_slope_and_twice_theta_is_half_alpha():
    sample = draw_sample("data.items=4", "data.features=2")
    assert check_lipschitz(sample._replace(costs=0 * sample.costs), 0.3) == 0
    doubled = sample._replace(theta=2 * sample.theta)  # the same decisions at twice the α
    assert check_lipschitz(doubled, 0.6) == pytest.approx(check_lipschitz(sample, 0.3))


@pytest.mark.parametrize("name", ["entropy", "log_barrier", "paths"])
def test_distances_follow_from_margins_and_a_wrong_alpha_is_noticed(name):
    sample = draw_sample(*SETS[name])
    assert 0.1 < check_distance(sample, 0.05) <= 1
    assert check_distance(sample, 0.05, off=10.0) > 1
    assert check_suboptimality(sample, 0.05, off=10.0) > 1
    if name != "paths":
        assert 0.01 < check_expected_distance(sample, 0.05) <= 1


def test_two_items_have_a_distance_in_closed_form():
    """w̃ = (1 − q, q) with q = 1/(1 + e^(ε/α)): ‖w̃ − w*‖₁ = 2q, allowed are 2 α ln 2 / ε."""
    sample = draw_sample("data.items=2")
    g = np.einsum("ndp,np->nd", sample.X, sample.theta)
    margin = np.abs(g[:, 0] - g[:, 1])
    expected = (margin / (1 + np.exp(margin / 0.3)) / (0.3 * np.log(2))).max()
    assert check_distance(sample, 0.3) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["entropy", "log_barrier"])
def test_the_gradient_at_a_random_point_is_a_difference_of_values_on_average(name):
    sample = draw_sample(*SETS[name])
    assert check_randomised_point(sample, 0.3) < 1e-3
    assert check_randomised_point(sample, 0.3, delta=1.0) > 0.1


def test_the_smoothed_cost_is_not_convex_and_the_spo_loss_is():
    sample = draw_sample()
    assert convexity_gap(sample, 0.1) > 0.1
    assert convexity_gap(sample, 0.1, "spo") < 1e-9


def test_sampled_rounds_are_rounds_of_the_run():
    job = composed_job("seeds=[4,9]", "horizon.rounds=100")
    sample = sample_rounds(job.environment, job.algorithm.problem, job.seeds, size=64)
    rounds = job.environment.rounds(job.seeds, 0, 100)
    assert len(sample.X) == 64
    every = rounds.costs.reshape(-1, 5)
    assert all((every == costs).all(-1).any() for costs in sample.costs)
    np.testing.assert_allclose(np.linalg.norm(sample.theta, axis=-1), 1.0)


# ---- wrong beliefs ----


@pytest.mark.parametrize(
    ("wrong", "alpha", "eta"),
    [
        ({"horizon": 10.0}, 10**-0.25, 10**-0.75),
        ({"parameters": 0.1}, 0.1**0.75, 0.1**0.25),
        ({"faces": 10.0}, 10**0.5, 10**-0.5),
    ],
)
def test_df_ftpl_scales_its_schedules_as_it_believes(wrong, alpha, eta):
    """α ∝ m^{3/4} n^{1/2} T^{−1/4} and η ∝ m^{1/4} T^{−3/4} n^{−1/2}."""
    right = DFFTPL(problem=make_problem())
    mistaken = DFFTPL(problem=make_problem(), belief=SizesBelief(**wrong))
    assert mistaken.alpha / right.alpha == pytest.approx(alpha)
    assert mistaken.eta / right.eta == pytest.approx(eta)
    assert mistaken.problem.rounds == right.problem.rounds


@pytest.mark.parametrize("engine", ["torch", "compiled"])
def test_df_ogd_scales_its_schedules_as_it_believes(engine):
    common = ("algo=df_ogd", "horizon.rounds=15", "seeds=2", f"engine={engine}")
    right = simulate(composed_job(*common))
    wrong = simulate(composed_job(*common, "algo.belief.faces=10")).state
    fourth = ((1 + wrong.path_length) / (1 + right.state.path_length)) ** 0.75
    np.testing.assert_allclose(wrong.eta, right.state.eta * 10**-0.5 * fourth, rtol=1e-12)


# ---- the report on the oracle ----


def report_after(job, played: int):
    """The report on the round after so many, with the state and the round it is about."""
    algorithm, seeds = job.algorithm, len(job.seeds)
    job.engine.start(algorithm)
    state, _ = job.engine.advance(algorithm, algorithm.init(seeds, None), *block_of(job, 0, played))
    rounds, draws = block_of(job, played, played + 1)
    now = {name: values[:, 0] for name, values in draws.items()}
    report = oracle_report(algorithm, RoundStart(played + 1, state, rounds, draws))
    return report, state, (rounds.X[:, 0], rounds.costs[:, 0], now)


def with_oracle(job, oracle):
    problem = replace(job.algorithm.problem, oracle=oracle)
    return replace(job, algorithm=replace(job.algorithm, problem=problem))


@pytest.mark.parametrize("algo", ["df_ogd", "df_ftpl"])
@pytest.mark.parametrize("features", [2, 5])
def test_the_report_is_about_the_round_that_follows(algo, features):
    job = composed_job(f"algo={algo}", "engine=array", "seeds=3", "horizon.rounds=30",
                       f"data.features={features}")  # fmt: skip
    report, state, (X, costs, now) = report_after(job, 9)
    call = job.algorithm.oracle_call(state, X, costs, now)
    after = job.algorithm.update(state, X, costs, now)
    answer = after.vartheta if algo == "df_ogd" else after.theta
    weight = 1 if algo == "df_ogd" else 10
    np.testing.assert_allclose(report["oracle_before"], weight * call.objective.value(call.start))
    np.testing.assert_allclose(report["oracle_after"], weight * call.objective.value(answer))
    assert (report["xi"] >= 0).all()
    assert ((report["oracle_share"] > 0) & (report["oracle_share"] <= 1)).all()
    # nothing in Θ that is easily found lies lower than the reference
    lowest = (report["oracle_after"] - report["xi"]) / weight
    rng = np.random.default_rng(0)
    somewhere = rng.normal(size=(3000, 1, features))
    somewhere /= np.maximum(1, np.linalg.norm(somewhere, axis=-1, keepdims=True))
    values = call.objective.value(np.broadcast_to(somewhere, (3000, 3, features)))
    assert (lowest <= values.min(0) + 1e-7).all()


@pytest.mark.thorough
def test_a_better_oracle_has_a_smaller_error():
    job = composed_job("algo=df_ogd", "engine=array", "seeds=4", "horizon.rounds=30",
                       "data.features=3")  # fmt: skip
    errors = [
        report_after(with_oracle(job, oracle), 5)[0]["xi"].mean()
        for oracle in (SGD(steps=1, lr=1e-4), SGD(), LBFGS(steps=30), Exact())
    ]
    assert errors[0] > errors[1] > errors[2] >= errors[3]
    assert errors[3] == pytest.approx(0, abs=1e-6)


def test_the_standing_answer_of_a_lazy_oracle_is_judged():
    job = composed_job("algo=df_ogd", "engine=array", "seeds=2", "horizon.rounds=30",
                       "oracle.every=7")  # fmt: skip
    report, _, _ = report_after(job, 9)  # round 10 is not one of 1, 8, 15, …
    np.testing.assert_array_equal(report["oracle_before"], report["oracle_after"])
    assert (report["oracle_share"] == 0).all()
    assert (report["xi"] > 0).all()
