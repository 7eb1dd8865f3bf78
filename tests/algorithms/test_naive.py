"""Naive policies: rounds computed by hand, and nothing but the past."""

from dataclasses import replace

import numpy as np
import pytest
from support.problems import composed_job, make_problem, random_rounds

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.algorithms.naive import Always, Forecast, RollingMean
from odfl_cli.core.errors import UserError

NAIVE = ("yesterday", "last_week", "rolling_mean", "forecast", "always")
COSTS = np.array([[3.0, 1.0, 2.0], [1.0, 4.0, 2.0], [5.0, 5.0, 0.0], [1.0, 2.0, 3.0]])


def play(algorithm: Algorithm, costs: np.ndarray, X: np.ndarray | None = None) -> list[list]:
    """(prediction, decision) of every round of one seed with costs [T, d]."""
    X = np.zeros((*costs.shape, 2)) if X is None else X
    state, rounds = algorithm.init(1, None), []
    for x, c in zip(X[:, None], costs[:, None], strict=True):
        rounds.append([part[0].tolist() for part in algorithm.decide(state, x)])
        state = algorithm.update(state, x, c, {})
    return rounds


def predictions(algorithm: Algorithm, costs: np.ndarray, X: np.ndarray | None = None) -> np.ndarray:
    return np.array([prediction for prediction, _ in play(algorithm, costs, X)])


def problem(**sizes):
    return make_problem(items=3, features=2, **sizes)


def test_yesterday_predicts_the_costs_of_the_round_before():
    rounds = play(RollingMean(problem=problem(), window=1), COSTS)
    assert rounds[0] == [[0, 0, 0], [1, 0, 0]]
    assert rounds[1] == [[3, 1, 2], [0, 1, 0]]
    assert rounds[3] == [[5, 5, 0], [0, 0, 1]]


def test_last_week_predicts_the_costs_of_one_season_ago():
    """Before a season has passed, it predicts the latest costs."""
    expected = [[0, 0, 0], COSTS[0], COSTS[0], COSTS[1]]
    found = predictions(RollingMean(problem=problem(), window=1, season=2), COSTS)
    np.testing.assert_array_equal(found, expected)


def test_rolling_mean_averages_the_same_slot_of_the_last_seasons():
    daily = predictions(RollingMean(problem=problem(), window=2), COSTS)
    np.testing.assert_array_equal(daily[1:], [COSTS[0], COSTS[:2].mean(0), COSTS[1:3].mean(0)])
    costs = np.random.default_rng(0).normal(size=(12, 3))
    seasonal = predictions(RollingMean(problem=problem(), window=3, season=2), costs)
    np.testing.assert_allclose(seasonal[11], (costs[5] + costs[7] + costs[9]) / 3, rtol=1e-15)


def test_a_forecast_is_the_column_by_name_or_position():
    rounds = random_rounds(1, 4, 3, 2)
    named = problem_with_names("load", "price")
    for algorithm in (Forecast(problem=named, column="price"), Forecast(problem=named, column=1)):
        found = predictions(algorithm, rounds.costs[0], rounds.X[0])
        np.testing.assert_array_equal(found, rounds.X[0, ..., 1])


def problem_with_names(*names: str):
    return replace(problem(), feature_names=names)


def test_a_column_that_is_not_there_is_refused_by_name():
    with pytest.raises(UserError, match=r"algo\.column=prise: .*did you mean price\?"):
        Forecast(problem=problem_with_names("load", "price"), column="prise")
    with pytest.raises(UserError, match="the data name no columns"):
        Forecast(problem=problem(), column="price")
    with pytest.raises(UserError, match=r"algo\.column=2: there are 2 features"):
        Forecast(problem=problem(), column=2)


def test_always_plays_the_same_items():
    assert {tuple(w) for _, w in play(Always(problem=problem(), items=(2,)), COSTS)} == {(0, 0, 1)}
    budget = composed_job(
        "algo=always", "algo.items=[4,2]", "polytope=budget", "polytope.k=3",
        "regularizer=log_barrier",
    )  # fmt: skip
    w = budget.algorithm.decide(budget.algorithm.init(1, None), np.zeros((1, 5, 10)))[1]
    assert w.tolist() == [[1, 0, 1, 0, 1]]
    with pytest.raises(UserError, match=r"algo\.items: there is no item 3"):
        Always(problem=problem(), items=(0, 3))


def test_an_item_that_was_not_offered_keeps_its_last_known_cost():
    """NaN in the features marks it; it is predicted as NaN, which is never played."""
    X = np.zeros((4, 3, 2))
    X[1, 0] = X[3, 2] = np.nan
    algorithm = RollingMean(problem=problem().with_offers(), window=1)
    found = predictions(algorithm, COSTS, X)
    np.testing.assert_array_equal(found[2], [3.0, 4.0, 2.0])
    np.testing.assert_array_equal(found[3], [5.0, 5.0, np.nan])


@pytest.mark.parametrize("name", NAIVE)
def test_the_future_changes_no_decision(name):
    job = composed_job(f"algo={name}", "horizon.rounds=40", "seeds=2")
    X, costs = job.environment.rounds((0, 1), 0, 40)
    changed = costs.copy()
    changed[:, 20:] = 1.0 - changed[:, 20:]
    before, after = (play_one(job.algorithm, X, c) for c in (costs, changed))
    np.testing.assert_array_equal(after[:21], before[:21])
    assert name in ("forecast", "always") or (after[21:] != before[21:]).any()


def play_one(algorithm: Algorithm, X: np.ndarray, costs: np.ndarray) -> np.ndarray:
    state, decisions = algorithm.init(len(X), None), []
    for t in range(X.shape[1]):
        decisions.append(algorithm.decide(state, X[:, t])[1])
        state = algorithm.update(state, X[:, t], costs[:, t], {})
    return np.array(decisions)
