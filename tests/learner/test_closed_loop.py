"""Rounds that depend on decisions, and learners beside them."""

import numpy as np
import pytest

from odfl_cli import Learner, UserError, run


class Shelf:
    """Three goods; what is bought often gets dearer, which only decisions can cause."""

    def __init__(self, rng: np.random.Generator | None = None) -> None:
        self.bought = np.zeros(3)
        self.rng = rng or np.random.default_rng(0)

    def reset(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def observe(self, t: int) -> np.ndarray:
        self.X = np.column_stack([self.rng.normal(size=3), self.bought / 10])
        return self.X

    def respond(self, t: int, w: np.ndarray) -> np.ndarray:
        self.bought = 0.9 * self.bought + w
        return self.X @ [0.5, 1.0] + 0.1 * self.rng.normal(size=3)


@pytest.mark.parametrize(
    "algo", ["df_ogd", pytest.param("vote", marks=pytest.mark.thorough), "rolling_mean"]
)
def test_a_run_plays_the_loop_that_a_learner_plays(algo: str) -> None:
    result = run(algo=algo, data=Shelf(), seeds=[2, 4], horizon={"rounds": 30})
    for seed in (2, 4):
        shelf, learner, total = Shelf(), Learner(algo=algo, seed=seed, horizon={"rounds": 30}), 0.0
        shelf.reset(seed)
        for t in range(30):
            X = shelf.observe(t)
            w = learner.predict_one(X)
            costs = shelf.respond(t, w)
            learner.learn_one(X, costs)
            total += (costs * w).sum()
        assert result.final.loc[seed, "avg_cost"] == total / 30
        np.testing.assert_array_equal(
            result.state.theta[result.runs[0].seeds.index(seed)], learner.theta_
        )


def test_runs_repeat_and_seeds_do_not_depend_on_each_other() -> None:
    shelf = Shelf()
    both = run(data=shelf, seeds=[2, 4], horizon={"rounds": 20})
    one = run(data=shelf, seeds=[4], horizon={"rounds": 20})
    rows = both.rows[both.rows["seed"] == 4].reset_index(drop=True)
    assert rows.equals(one.rows.reset_index(drop=True))


def test_what_cannot_be_done_is_said_in_one_line() -> None:
    with pytest.raises(UserError, match="rounds that depend on decisions"):
        run(data=Shelf(), seeds=1, horizon={"rounds": 20}, metrics="full")

    class Wrong(Shelf):
        def respond(self, t: int, w: np.ndarray) -> np.ndarray:
            return np.full(3, np.nan)

    with pytest.raises(UserError, match=r"data: respond\(\) gave"):
        run(data=Wrong(), seeds=1, horizon={"rounds": 20})
