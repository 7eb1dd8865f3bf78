"""Rounds that do not offer every item, against brute force and against smaller problems."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import torch
from support.problems import algorithm_class, choices, composed, make_problem
from support.samples import some_of

from odfl_cli.core.errors import RowError, UserError
from odfl_cli.environments.base import Rounds
from odfl_cli.problem.offers import OfferedPolytope, OfferedPredictor, OfferedRegularizer, centre
from odfl_cli.problem.polytopes.budget import Budget
from odfl_cli.problem.polytopes.simplex import Simplex
from odfl_cli.problem.predictors.linear import Affine, Linear, PerItem
from odfl_cli.problem.regularizers.entropy import Entropy
from odfl_cli.runs.build import build
from odfl_cli.runs.simulate import simulate

OFFERED = [0, 2, 3, 5]  # of six items


def masked_costs(seed: int, rows: int, items: int, least: int) -> np.ndarray:
    """Costs with ties, at least `least` of every row offered."""
    rng = np.random.default_rng(seed)
    costs = rng.integers(-3, 4, (rows, items)).astype(float)
    for row in costs:
        row[rng.permutation(items)[: rng.integers(0, items - least + 1)]] = np.nan
    return costs


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("library", [np.asarray, torch.asarray])
def test_the_minimiser_is_the_best_of_all_vertices_that_are_offered(k, library):
    """All sets of k offered items are tried; of equals, the first items."""
    costs = masked_costs(k, 300, 6, k)
    polytope = OfferedPolytope(Simplex(dimension=6) if k == 1 else Budget(dimension=6, k=k))
    found = np.asarray(polytope.minimise(library(costs)))
    for row, w in zip(costs, found, strict=True):
        offered = np.flatnonzero(~np.isnan(row))
        best = min(combinations(offered, k), key=lambda items: (row[list(items)].sum(), items))
        assert np.flatnonzero(w).tolist() == list(best)
        assert w.sum() == k


def test_fewer_items_than_the_decision_needs_are_refused():
    with pytest.raises(RowError, match="fewer than 3 items are offered"):
        OfferedPolytope(Budget(dimension=4, k=3)).minimise(np.array([[1.0, np.nan, np.nan, 0.0]]))


def test_smoothed_decisions_are_those_of_the_offered_items():
    g = np.random.default_rng(0).normal(size=(5, 6))
    g[:, [1, 4]] = np.nan
    large, small = Entropy(polytope=Simplex(dimension=6)), Entropy(polytope=Simplex(dimension=4))
    found = OfferedRegularizer(large).smooth(g, 0.3)
    np.testing.assert_array_equal(found[:, [1, 4]], 0.0)
    np.testing.assert_allclose(found[:, OFFERED], small.smooth(g[:, OFFERED], 0.3), rtol=1e-14)
    v = np.random.default_rng(1).normal(size=(5, 6))
    whole = OfferedRegularizer(large).vjp(found, 0.3, v)
    np.testing.assert_array_equal(whole[:, [1, 4]], 0.0)
    np.testing.assert_allclose(
        whole[:, OFFERED], small.vjp(found[:, OFFERED], 0.3, v[:, OFFERED]), atol=1e-14
    )


@pytest.mark.parametrize("predictor", [Linear(), Affine(), PerItem()])
def test_what_is_not_offered_has_no_effect_on_the_gradient(predictor):
    rng = np.random.default_rng(0)
    X, v = rng.normal(size=(6, 3)), rng.normal(size=6)
    theta = rng.normal(size=predictor.parameter_count(6, 3))
    expected = predictor.vjp(theta, X, np.where(np.isin(np.arange(6), OFFERED), v, 0.0))
    X[[1, 4]] = np.nan
    wrapped = OfferedPredictor(predictor)
    np.testing.assert_allclose(wrapped.vjp(theta, X, v), expected, atol=1e-15)
    assert np.isnan(wrapped.predict(theta, X))[[1, 4]].all()
    design = wrapped.design(X)
    np.testing.assert_allclose((design @ theta)[OFFERED], wrapped.predict(theta, X)[OFFERED])
    np.testing.assert_array_equal(design[[1, 4]], 0.0)


def test_the_centre_spreads_what_is_left():
    marks = np.array([[0.0, np.nan, 0.0, 0.0], [np.nan, np.nan, 0.0, np.nan]])
    shares = centre(np.full(4, 0.25), marks)
    np.testing.assert_allclose(shares, [[1 / 3, 0, 1 / 3, 1 / 3], [0, 0, 1, 0]])
    np.testing.assert_allclose(centre(np.full(4, 0.5), marks[:1]).sum(), 2.0)


# ---- whole runs ----


class Recorded:
    """An environment of given arrays; NaN in X marks what is not offered."""

    def __init__(self, X: np.ndarray, costs: np.ndarray) -> None:
        self.X, self.costs = X, np.where(np.isnan(X[..., 0]), 0.0, costs)
        self.items, self.features = X.shape[-2:]
        self.offers_all = not np.isnan(X).any()

    def rounds(self, seeds: tuple[int, ...], start: int, stop: int) -> Rounds:
        rows = list(seeds)
        return Rounds(self.X[rows, start:stop], self.costs[rows, start:stop])

    def theta_star(self, seeds: tuple[int, ...]) -> None:
        return None


def environments() -> tuple[Recorded, Recorded]:
    """Six items of which always the same four are offered, and those four alone."""
    rng = np.random.default_rng(3)
    X, costs = rng.normal(size=(2, 60, 6, 3)), rng.random((2, 60, 6))
    small = Recorded(X[:, :, OFFERED].copy(), costs[:, :, OFFERED])
    X[:, :, [1, 4]] = np.nan
    return Recorded(X, costs), small


def job(environment: Recorded, *overrides: str):
    return build(composed(*overrides, "horizon.rounds=60", "seeds=2"), data=environment)


def takes_offers() -> list[str]:
    return [name for name in choices("algo") if algorithm_class(name).takes_offers]


SAME = sorted(set(takes_offers()) - {"perturbed"})
"""Not those whose noise, measure of an error, or schedule without a belief counts all items."""


@pytest.mark.parametrize("algo", some_of(SAME, 3))
def test_offering_always_the_same_items_is_the_smaller_problem(algo):
    """Schedules depend on ln d; the belief about it is corrected."""
    large, small = environments()
    believes = "belief" in composed(f"algo={algo}").algo
    belief = [f"algo.belief.faces={math.log(6) / math.log(4)!r}"] if believes else []
    one = simulate(job(large, f"algo={algo}", "engine=array"))
    other = simulate(job(small, f"algo={algo}", "engine=array", *belief))
    for column in ("cost", "mse", "best_cost", "regret"):
        np.testing.assert_allclose(
            one.table[column], other.table[column], rtol=1e-9, atol=1e-12, err_msg=column
        )


@pytest.mark.parametrize("algo", some_of(takes_offers(), 3))
def test_only_what_is_offered_is_played_and_paid(algo):
    rng = np.random.default_rng(5)
    X, costs = rng.normal(size=(2, 60, 6, 3)), 1.0 + rng.random((2, 60, 6))
    X[rng.random(costs.shape) < 0.4] = np.nan
    X[:, :, 3] = 1.0  # one item is always there
    table = simulate(job(Recorded(X, costs), f"algo={algo}", "metrics=decisions")).table
    offered = ~np.isnan(X[..., 0])
    best = np.where(offered, costs, np.inf).min(-1)
    np.testing.assert_array_equal(table["best_cost"], best)
    assert (table["cost"] >= best).all()
    if algo != "uniform":  # one item is played: it is offered, and its cost is paid
        item = table["decision"].astype(int)[..., None]
        assert np.take_along_axis(offered, item, -1).all()
        np.testing.assert_array_equal(table["cost"], np.take_along_axis(costs, item, -1)[..., 0])


def test_regret_in_hindsight_knows_what_is_offered():
    """The best fixed parameter is not better than the best decisions, nor worse than the learner."""
    large, _ = environments()
    one = simulate(job(large, "algo=rls", "metrics=regret")).table["static_regret"][:, -1]
    total = simulate(job(large, "algo=rls")).table["regret"][:, -1]
    assert (one <= total).all()
    assert np.isfinite(one).all()


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["algo=restart"], "algo=restart: it cannot take rounds that do not offer every item"),
        (["algo=df_ogd", "engine=compiled"], "rounds that do not offer every item has no kernel"),
        (["algo=rls", "kappa=0.1"], "kappa=0.1: rounds that do not offer"),
        (["algo=rls", "polytope=knapsack", "regularizer=log_barrier"], "polytope: Knapsack cannot"),
        (["algo=df_ogd", "regularizer=log_barrier"], "regularizer: LogBarrier cannot smooth"),
    ],
)
def test_parts_that_cannot_take_offers_are_refused_in_one_line(overrides, words):
    large, _ = environments()
    with pytest.raises(UserError, match=words) as refused:
        simulate(job(large, *overrides))
    assert "\n" not in str(refused.value)


def test_a_budget_plays_offered_items_alone():
    large, small = environments()
    chosen = ("algo=spo", "polytope=budget", "polytope.k=2", "regularizer=log_barrier")
    one, other = (simulate(job(e, *chosen, "engine=array")).table for e in (large, small))
    np.testing.assert_allclose(one["cost"], other["cost"], rtol=1e-12)


def test_kernels_are_for_costs_of_all_items():
    problem = make_problem()
    assert problem.beyond_papers is None
    assert replace(problem, target="rank").beyond_papers == "data.target=rank"
    assert problem.with_offers().beyond_papers == "rounds that do not offer every item"
