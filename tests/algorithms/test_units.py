"""Learners in units of the data: the scale of costs and features changes no decision."""

from functools import cache
from typing import get_args

import numpy as np
import pytest
from support.problems import algorithm_class, choices, composed_job, make_problem, random_rounds
from support.samples import each_once

from odfl_cli.algorithms.gradient import PFOGD
from odfl_cli.algorithms.rivals import GAMMAS, Loss
from odfl_cli.algorithms.units import REACH, InUnits, Units
from odfl_cli.core.streams import draw_all
from odfl_cli.problem.problem import UNIT_RADIUS

SCALED = [name for name in choices("algo") if algorithm_class(name).needs_units]
MIXED = ["ogd", "pool", "pool algo.learner=spo", "ftpl_a"]
"""A variant, and mixtures of learners that each have units."""
LOSSES = [f"rival algo.loss={loss}" for loss in get_args(Loss)]
SEEDS, ROUNDS, ITEMS, FEATURES = (3, 4), 25, 5, 3


@cache
def learner(algo, *overrides):
    return composed_job(
        f"algo={algo}", "theta_radius=auto", f"data.items={ITEMS}", f"data.features={FEATURES}",
        f"horizon.rounds={ROUNDS}", *overrides,
    ).algorithm  # fmt: skip


def play(algorithm, X, costs, order=slice(None), theta=None):
    """Predictions and decisions of every round, [T, S, d], from θ_1 = 0 or `theta`.

    `order` sorts what is drawn for items.
    """
    state, plays = algorithm.init(len(SEEDS), None), []
    if theta is not None:
        state = state._replace(theta=theta, learner=state.learner._replace(theta=theta))
    drawn = draw_all(SEEDS, algorithm.draws(), 0, ROUNDS)
    drawn = {name: sort_items(values, order) for name, values in drawn.items()}
    for t in range(ROUNDS):
        plays.append(algorithm.decide(state, X[:, t]))
        now = {name: values[:, t] for name, values in drawn.items()}
        state = algorithm.update(state, X[:, t], costs[:, t], now)
    return map(np.array, zip(*plays, strict=True))


def sort_items(drawn, order):
    if drawn.shape[-2:] == (ITEMS, GAMMAS):
        return drawn[..., order, :]
    return drawn[..., order] if drawn.shape[-1:] == (ITEMS,) else drawn


@pytest.mark.parametrize(
    ("algo", "predictor"), each_once([*SCALED, *MIXED, *LOSSES], ["linear", "per_item"])
)
def test_units_of_costs_and_features_change_no_decision(algo, predictor):
    algorithm = learner(*algo.split(), f"predictor={predictor}")
    X, costs = random_rounds(len(SEEDS), ROUNDS, ITEMS, FEATURES)
    predictions, decisions = play(algorithm, X, costs)
    column = np.array([1.0, 1e6, 1e-6])
    for scaled in ((X * column, 1e-6 * costs), (X / 1e6, 1e6 * costs)):
        same, chosen = play(algorithm, *scaled)
        unit = np.abs(scaled[1]).max() / np.abs(costs).max()
        exact = 1e-12 if algo in MIXED else 0.0  # weights round
        np.testing.assert_allclose(chosen, decisions, rtol=0.0, atol=exact)
        np.testing.assert_allclose(same, unit * predictions, rtol=1e-6, atol=1e-9 * unit)


ORDERED = {"policy_gradient", "pool algo.learner=spo"}
"""One number draws an item of policy_gradient, and copies in a pool meet ties at θ = 0."""
TIED = {"spo_printed"}
"""It learns from w*(ĉ), which is the first of the items where θ_1 = 0 predicts the same for all."""


@pytest.mark.parametrize("algo", sorted({*SCALED, *MIXED, *LOSSES} - ORDERED))
def test_the_order_of_items_changes_no_prediction(algo):
    algorithm, order = learner(*algo.split()), np.array([3, 0, 4, 1, 2])
    X, costs = random_rounds(len(SEEDS), ROUNDS, ITEMS, FEATURES)
    theta = np.array([[0.1, -0.2, 0.3], [0.2, 0.1, -0.1]]) if algo in TIED else None
    predictions, _ = play(algorithm, X, costs, theta=theta)
    sorted_, _ = play(algorithm, X[:, :, order], costs[:, :, order], order, theta)
    np.testing.assert_allclose(sorted_, predictions[..., order], rtol=1e-7, atol=1e-9)


def test_units_are_root_mean_squares_of_what_was_seen():
    """Two rounds of two items by hand; the second item of round 2 is not offered."""
    units = Units.zero(1, 1)
    units = units.with_features(np.array([[[3.0], [4.0]]])).with_costs(np.array([[1.0, 7.0]]))
    assert units.cost[0, 0] == 5.0
    units = units.with_features(np.array([[[1.0], [np.nan]]]))
    scaled = units.scale_features(np.array([[[2.0], [np.nan]]]))
    np.testing.assert_allclose(scaled[0, :, 0], [2.0 / np.sqrt(26.0 / 3.0), np.nan], rtol=1e-15)
    units = units.with_costs(np.array([[2.0, np.nan]]))
    assert units.cost[0, 0] == pytest.approx(np.sqrt(54.0 / 3.0))


def test_columns_of_zeros_keep_their_unit():
    units = Units.zero(1, 2).with_features(np.zeros((1, 3, 2))).with_costs(np.zeros((1, 3)))
    np.testing.assert_array_equal(units.scale_features(np.zeros((1, 3, 2))), 0.0)
    assert units.cost[0, 0] == 1.0


def test_adaptive_steps_by_hand():
    """Coordinates of size 3 then 4: steps 3/3 and 4/5 of D/√m; where nothing pulls, nothing moves."""
    algorithm = PFOGD(problem=make_problem(features=2), step="adaptive")
    theta, squares = np.zeros((1, 2)), np.zeros((1, 2))
    theta, squares = algorithm.descend(theta, np.array([[3.0, 0.0]]), 1.0, squares)
    theta, squares = algorithm.descend(theta, np.array([[-4.0, 0.0]]), 1.0, squares)
    np.testing.assert_allclose(theta, [[-REACH / np.sqrt(2) * (1.0 - 0.8), 0.0]], rtol=1e-14)
    np.testing.assert_array_equal(squares, [[25.0, 0.0]])


def test_what_chooses_units():
    """theta_radius=auto for all learners with constants that have some, algo.step for one; else nobody."""
    assert isinstance(learner("df_ftpl"), InUnits)
    assert learner("df_ftpl").learner.problem.theta_set.radius == UNIT_RADIUS
    assert not isinstance(learner("rls"), InUnits)
    stepped = composed_job("algo=spo", "algo.step=adaptive", "theta_radius=3").algorithm
    assert isinstance(stepped, InUnits)
    assert stepped.learner.adaptive
    assert stepped.learner.problem.theta_set.radius == 3.0
    scheduled = learner("spo", "algo.step=scheduled")
    assert isinstance(scheduled, InUnits)
    assert not scheduled.learner.adaptive
    assert not isinstance(composed_job("algo=spo").algorithm, InUnits)
    assert learner("policy_gradient").learner.adaptive
