"""`Learner` has the numbers of `odfl run`, in whatever form its rounds come."""

import gc
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from support.learning import (
    ALGORITHMS,
    OFTEN,
    SEED,
    assert_same,
    assert_same_state,
    play_job,
    start_learner,
)
from support.problems import composed_job
from support.samples import marked, some_of
from support.solvers import TOURS, tour

from odfl_cli import Learner, UserError
from odfl_cli.core.streams import draw_all
from odfl_cli.problem.predictors.linear import Linear
from odfl_cli.problem.problem import Horizon

ITEMS, FEATURES = ["ale", "bun", "cod", "dip", "egg"], [f"x{j}" for j in range(10)]


@pytest.mark.parametrize("items", [5, pytest.param(12, marks=pytest.mark.thorough)])
@pytest.mark.parametrize(
    "algo",
    [
        pytest.param(algo, marks=[] if algo in OFTEN else pytest.mark.thorough)
        for algo in ALGORITHMS
    ],
)
def test_the_numbers_are_those_of_a_run(algo: str, items: int) -> None:
    (X, costs), simulation = play_job(f"algo={algo}", f"data.items={items}")
    one, many = start_learner(algo), start_learner(algo)
    for x, c in zip(X[0], costs[0], strict=True):
        one.predict_one(x)
        one.learn_one(x, c)
    many.partial_fit(X[0, :77], costs[0, :77]).partial_fit(X[0, 77:], costs[0, 77:])
    assert_same(one, simulation)
    assert_same(many, simulation)


@pytest.mark.parametrize(
    "words",
    [
        {"predictor": "quadratic"},
        {"polytope": "budget", "regularizer": "log_barrier"},
        {"oracle": "multistart", "theta_radius": 2.0},
        {"kappa": 0.1},
        pytest.param({"predictor": "mlp"}, marks=pytest.mark.thorough),
    ],
)
def test_all_parts_of_a_run_work(words: dict) -> None:
    overrides = [f"{key}={value}" for key, value in words.items()]
    (X, costs), simulation = play_job(*overrides, rounds=12)
    learner, typed = (
        start_learner(rounds=12, **words),
        start_learner(rounds=12, overrides=overrides),
    )
    for x, c in zip(X[0], costs[0], strict=True):
        learner.learn_one(x, c)
    assert_same(learner, simulation)
    assert_same(typed.partial_fit(X[0], costs[0]), simulation)


@pytest.mark.parametrize("algo", ["df_ogd", "spo"])
def test_a_solver_of_ones_own_decides_as_in_a_run(algo: str) -> None:
    named = ("polytope=solver", "polytope.solve=support.solvers.tour", "data.items=15")
    (X, costs), simulation = play_job(f"algo={algo}", *named, rounds=6)
    learner = start_learner(algo, rounds=6, polytope=tour)
    for x, c in zip(X[0], costs[0], strict=True):
        assert any((learner.predict_one(x) == TOURS).all(axis=1))
        learner.learn_one(x, c)
    assert_same(learner, simulation)


def test_objects_are_parts_as_in_run() -> None:
    (X, costs), simulation = play_job("algo=df_ogd", rounds=12)
    learner = Learner(predictor=Linear(), horizon=Horizon(rounds=12), seed=SEED)
    assert_same(learner.partial_fit(X[0], costs[0]), simulation)


def test_a_decision_is_what_the_round_pays() -> None:
    (X, costs), _ = play_job("algo=df_ogd")
    learner, paid = start_learner(), []
    for x, c in zip(X[0], costs[0], strict=True):
        w = learner.predict_one(x)
        before = learner.theta_
        paid.append(c @ w)
        np.testing.assert_allclose(learner.prediction_, x @ before)
        learner.learn_one(x, c)
    assert learner.cost_ == pytest.approx(np.mean(paid))
    np.testing.assert_array_equal(
        learner.predict(X[0, :3]), [learner.predict_one(x) for x in X[0, :3]]
    )


def test_predicting_changes_nothing() -> None:
    (X, costs), simulation = play_job("algo=df_ogd", rounds=12)
    learner = start_learner(rounds=12)
    for x, c in zip(X[0], costs[0], strict=True):
        learner.predict(X[0])
        learner.learn_one(x, c)
    assert_same(learner, simulation)


def add_names(x: np.ndarray) -> dict:
    return {
        item: dict(zip(FEATURES, row.tolist(), strict=True))
        for item, row in zip(ITEMS, x, strict=True)
    }


def test_names_and_tables_are_the_same_rounds() -> None:
    (X, costs), simulation = play_job("algo=df_ogd", rounds=12)
    by_name, tables = start_learner(rounds=12), start_learner(rounds=12)
    for x, c in zip(X[0], costs[0], strict=True):
        table = add_names(x)
        w = by_name.predict_one(table)
        assert list(w) == ITEMS
        shuffled = {item: dict(reversed(table[item].items())) for item in reversed(ITEMS)}
        by_name.learn_one(shuffled if by_name.rounds_ else table, dict(zip(ITEMS, c, strict=True)))
        frame = pd.DataFrame(x, index=ITEMS, columns=FEATURES)
        pd.testing.assert_series_equal(tables.predict_one(frame), pd.Series(w))
        tables.learn_one(frame, pd.Series(c, index=ITEMS))
    assert_same(by_name, simulation)
    assert_same(tables, simulation)


def test_an_item_that_is_absent_was_not_offered() -> None:
    X, costs = (values.copy() for values in play_job("algo=df_ogd", rounds=12)[0])
    by_name, arrays = start_learner(items=ITEMS), start_learner(offers_all=False)
    for t, (x, c) in enumerate(zip(X[0], costs[0], strict=True)):
        table, absent = add_names(x), ITEMS[t % 5]
        left, x[t % 5] = dict(zip(ITEMS, c.tolist(), strict=True)), np.nan
        c[t % 5] = np.nan
        del table[absent], left[absent]
        w = by_name.predict_one(table)
        assert absent not in w
        assert sum(w.values()) == 1
        assert arrays.predict_one(x)[t % 5] == 0
        by_name.learn_one(table, left)
        arrays.learn_one(x, c)
    np.testing.assert_array_equal(by_name.theta_, arrays.theta_)
    assert by_name.cost_ == arrays.cost_


def test_a_block_changes_to_offers_where_the_rounds_do() -> None:
    (X, costs), _ = play_job("algo=df_ogd", rounds=12)
    X, costs, one, many = (
        X[0].copy(),
        costs[0].copy(),
        start_learner(items=ITEMS),
        start_learner(items=ITEMS),
    )
    tables = [add_names(x) for x in X]
    prices = [dict(zip(ITEMS, c, strict=True)) for c in costs]
    del tables[7]["bun"], prices[7]["bun"]
    for table, price in zip(tables, prices, strict=True):
        one.learn_one(table, price)
    np.testing.assert_array_equal(one.theta_, many.partial_fit(tables, prices).theta_)


REFUSED = {
    "X: a number is not finite": lambda: (np.full((5, 10), np.inf), np.ones(5)),
    "offers_all=False": lambda: (np.vstack([np.full(10, np.nan), np.ones((4, 10))]), np.ones(5)),
    "X: it has shape (4, 10), and (5, 10) is needed": lambda: (np.ones((4, 10)), np.ones(4)),
    "costs: they have shape (4,), and (5,) is needed": lambda: (np.ones((5, 10)), np.ones(4)),
    "costs: a number is not finite": lambda: (np.ones((5, 10)), [1, 2, 3, 4, np.nan]),
    "costs: numbers are needed": lambda: (np.ones((5, 10)), "cheap"),
}


@pytest.mark.parametrize("message", REFUSED)
def test_arrays_that_do_not_fit_are_refused_and_nothing_is_learned(message: str) -> None:
    (X, costs), simulation = play_job("algo=df_ogd", rounds=12)
    learner = start_learner(rounds=12).partial_fit(X[0], costs[0])
    with pytest.raises(UserError) as refusal:
        learner.learn_one(*REFUSED[message]())
    assert message in str(refusal.value)
    assert_same(learner, simulation)


def test_other_names_than_before_are_refused_in_one_line() -> None:
    learner, x = start_learner(), add_names(np.ones((5, 10)))
    learner.learn_one(x, dict.fromkeys(ITEMS, 1.0))
    wrong = {
        "the item 'bum' is unknown; did you mean bun?": x | {"bum": x["bun"]},
        "the feature 'y' is unknown": x | {"bun": x["bun"] | {"y": 1}},
        "X['bun']: the feature 'x3' is missing": x
        | {"bun": {f: 1.0 for f in FEATURES if f != "x3"}},
        "X['bun']: the feature 'x3' has no value": x | {"bun": x["bun"] | {"x3": np.nan}},
        "X['bun']: a mapping": x | {"bun": 3.0},
    }
    for message, bad in wrong.items():
        with pytest.raises(UserError) as refusal:
            learner.predict_one(bad)
        assert message in str(refusal.value)
    with pytest.raises(UserError, match="there is no cost of 'egg', which X offers"):
        learner.learn_one(x, dict.fromkeys(ITEMS[:-1], 1.0))
    assert learner.rounds_ == 1


def test_sizes_that_are_given_are_checked_in_the_first_round() -> None:
    with pytest.raises(UserError, match="X: it has 5 items, and items=6"):
        start_learner(items=6).predict_one(np.ones((5, 10)))
    with pytest.raises(UserError, match="it names 5 items, and items=6; give all names"):
        start_learner(items=6).predict_one(add_names(np.ones((5, 10))))
    with pytest.raises(UserError, match="algo=nonesuch"):
        start_learner("nonesuch").predict_one(np.ones((5, 10)))


def test_rounds_beyond_the_horizon_double_it(caplog: pytest.LogCaptureFixture) -> None:
    (X, costs), _ = play_job("algo=df_ogd")
    one, many = start_learner("df_ftpl", rounds=20), start_learner("df_ftpl", rounds=20)
    for x, c in zip(X[0, :70], costs[0, :70], strict=True):
        one.learn_one(x, c)
    many.partial_fit(X[0, :70], costs[0, :70])
    assert_same_state(one._place.state, many._place.state)
    assert (one.horizon_, one.rounds_) == (80, 70)
    assert caplog.messages[0].startswith("df_ftpl: 20 rounds have passed")
    assert start_learner().partial_fit(X[0], costs[0]).horizon_ is None


@pytest.mark.thorough
def test_a_vote_that_starts_anew_keeps_its_experts_states() -> None:
    (X, costs), _ = play_job("algo=df_ogd")
    words = {"algo": ("vote", {"experts": ("df_ogd", "rls")}), "horizon": {"rounds": 20}}
    learner = Learner(**words).partial_fit(X[0, :21], costs[0, :21])
    state = learner._place.state
    assert (state.t, state.states[0].t, state.states[1].t) == (1, 21, 21)


@pytest.mark.parametrize("algo", some_of(ALGORITHMS, 5))
def test_what_uses_the_horizon_says_so(algo: str) -> None:
    """A learner that does not say so has the same numbers for any T."""
    found, data = [], play_job("algo=df_ogd", rounds=12)[0]
    for rounds in (12, 700):
        job = composed_job(f"algo={algo}", f"horizon.rounds={rounds}", f"seeds=[{SEED}]")
        algorithm, draws = job.algorithm, draw_all((SEED,), job.algorithm.draws(), 0, 12)
        state, trace = job.engine.advance(algorithm, algorithm.init(1, None), data, draws)
        found.append((state.theta, trace.cost, *trace.notes.values()))
    is_same = all(np.array_equal(*pair) for pair in zip(*found, strict=True))
    assert is_same or algorithm.uses_horizon


def test_costs_may_come_late_and_in_any_order() -> None:
    (X, costs), simulation = play_job("algo=df_ogd", rounds=12)
    learner = start_learner(rounds=12)
    for x in X[0]:
        learner.predict_one(x)
    learner.partial_fit(X[0], costs[0])
    assert_same(learner, simulation)


@pytest.mark.parametrize("algo", marked(["df_ogd", "pf_ogd", "df_moments"], "df_ogd".__eq__))
def test_memory_does_not_grow_with_the_rounds(algo: str) -> None:
    learner, rng = start_learner(algo), np.random.default_rng(0)

    def memory_after(rounds: int) -> int:
        for _ in range(rounds):
            X = rng.normal(size=(5, 10))
            learner.predict_one(X)
            learner.learn_one(X, X[:, 0])
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    memory_after(50)
    tracemalloc.start()
    try:
        before = memory_after(400)
        assert memory_after(300) - before < 20_000  # they would take 132,000 if they were kept
    finally:
        tracemalloc.stop()
