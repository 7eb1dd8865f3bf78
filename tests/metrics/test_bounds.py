"""The right-hand sides, by hand and in their constants."""

import math
from dataclasses import replace

import numpy as np
import pytest
from support.problems import make_problem

from odfl_cli.environments.base import Rounds
from odfl_cli.metrics.theory.bound import longest_vertex, measure_constants
from odfl_cli.metrics.theory.sample import sample_rounds
from odfl_cli.metrics.theory.theorems import (
    Constants,
    Margin,
    df_ftpl_bound,
    df_ogd_bound,
    inexactness,
    running_mean,
    smoothing_distance,
)
from odfl_cli.problem.ball import Ball
from odfl_cli.problem.polytopes.box import Box
from odfl_cli.problem.polytopes.budget import Budget
from odfl_cli.problem.polytopes.simplex import Simplex
from odfl_cli.problem.regularizers.entropy import Entropy
from odfl_cli.problem.regularizers.log_barrier import LogBarrier
from odfl_cli.problem.regularizers.quadratic import Quadratic

SIMPLEX = Constants(
    diameter=2.0, slope=3.0, costs=0.5, suboptimality=math.log(4), steepness=1.25, vertices=1.0,
    parameters=7, margin=Margin(1.5, 1.0),
)  # fmt: skip
POLYTOPE = replace(SIMPLEX, suboptimality=6.0, steepness=2.0, vertices=3.0, margin=Margin(0.8, 0.5))
T = np.array([1, 2, 3])
ALPHA, ETA, PATH = np.array([0.5, 0.4, 0.3]), np.array([0.2, 0.1, 0.05]), np.array([0.0, 0.6, 0.7])


def test_smoothing_distance_by_hand():
    """β = 1 leaves the logarithm, β = 1/2 and a small α the 1/(1 − β) = 2."""
    simplex = 0.1 + 2 * 1.5 * (0.1 * math.log(4)) * math.log(20)
    assert smoothing_distance(SIMPLEX, 0.1) == pytest.approx(simplex)
    polytope = 0.1 + 2 * 3 * 0.8 * math.sqrt(6 * 0.1) * 2
    assert math.log(2 * 3 / 0.1) > 2
    assert smoothing_distance(POLYTOPE, 0.1) == pytest.approx(polytope)
    early = 1.0 + 2 * 3 * 0.8 * math.sqrt(6) * math.log(6)
    assert math.log(6) < 2
    assert smoothing_distance(POLYTOPE, 1.0) == pytest.approx(early)
    assert smoothing_distance(SIMPLEX, 5.0) == 5.0  # 2/α < 1: decisions differ by 2 at most anyway
    nothing_known = replace(SIMPLEX, margin=Margin(math.inf, 1.0))
    assert smoothing_distance(nothing_known, 0.1) == math.inf


def test_df_ogd_on_the_simplex_by_hand():
    """(D² + 2DP_T)/(2Tη_T) + (1/T)Σ[25 D_Z²G²η/(32α²) + 2D_Z(α + 2 C_0 α ln d ln(2/α))]."""
    found = df_ogd_bound(SIMPLEX, T, ALPHA, ETA, PATH)
    for last in range(3):
        total = 0.0
        for alpha, eta in zip(ALPHA[: last + 1], ETA[: last + 1], strict=True):
            total += 25 * 0.5**2 * 3**2 * eta / (32 * alpha**2)
            total += 2 * 0.5 * (alpha + 2 * 1.5 * alpha * math.log(4) * math.log(2 / alpha))
        t = last + 1
        path = (2.0**2 + 2 * 2.0 * PATH[last]) / (2 * t * ETA[last])
        assert found[last] == pytest.approx(path + total / t)


def test_df_ogd_on_a_polytope_by_hand():
    found = df_ogd_bound(POLYTOPE, T[:1], ALPHA[:1], ETA[:1], PATH[:1])
    K = 3.0 * 0.5 * 2.0 / 0.5
    distance = 0.5 + 2 * 3 * 0.8 * math.sqrt(6 * 0.5) * min(math.log(2 * 3 / 0.5), 2)
    assert found[0] == pytest.approx(4 / (2 * 0.2) + 0.2 * K**2 / 2 + 2 * 0.5 * distance)


def test_inexact_decisions_by_hand():
    """2 V D_Z ∫_0^1 min(1, C_0 (κ/u)^β) du; all of 2 V D_Z where no margin is known to exceed κ."""
    assert inexactness(SIMPLEX, 0.0) == 0.0
    a = 1.5 * 0.1  # β = 1
    assert inexactness(SIMPLEX, 0.1) == pytest.approx(2 * 0.5 * a * (1 + math.log(1 / a)))
    a = 0.8 * math.sqrt(0.01)  # β = ½: 1 up to u = a², then a/√u
    assert inexactness(POLYTOPE, 0.01) == pytest.approx(2 * 3 * 0.5 * (a**2 + 2 * a * (1 - a)))
    assert inexactness(SIMPLEX, 1.0) == pytest.approx(2 * 0.5)
    nothing_known = replace(SIMPLEX, margin=Margin(math.inf, 1.0))
    assert inexactness(nothing_known, 1e-9) == pytest.approx(2 * 0.5)


def test_the_worst_decision_within_kappa_stays_below_the_term():
    """Margins U[0, 1] on the simplex, where the second item may cost D_Z more: P(margin < ε) = ε."""
    margins = (np.arange(100_000) + 0.5) / 100_000
    constants = replace(SIMPLEX, costs=1.0, margin=Margin(1.0, 1.0))
    for kappa in (0.01, 0.1, 0.5):
        shift = np.minimum(1.0, kappa / margins).mean()  # of weight, at a cost of 1 each
        assert kappa < shift <= inexactness(constants, kappa) / 2 + 1e-4


@pytest.mark.parametrize("given", [SIMPLEX, POLYTOPE], ids=["simplex", "polytope"])
def test_df_ftpl_by_hand(given):
    alpha, eta, m = 0.3, 0.02, 7
    K = given.steepness * 3.0 * 0.5 / alpha
    n, (c0, beta) = given.suboptimality, given.margin
    factor = math.log(2 * given.vertices / alpha)
    factor = factor if beta == 1 else min(factor, 1 / (1 - beta))
    distance = alpha + 2 * given.vertices * c0 * (n * alpha) ** beta * factor
    for t in (1, 50):
        expected = eta * m**2 * 2 * K**2 + m * 2 / (eta * t) + 2 * 0.5 * distance
        found = df_ftpl_bound(given, np.array([t]), alpha, eta)
        assert found[0] == pytest.approx(expected)


def test_running_mean_of_all_rounds_and_of_some():
    values = np.array([[4.0, 2.0, 3.0, 1.0, 5.0], [1.0, 1.0, 1.0, 1.0, 1.0]])
    every = running_mean(np.arange(1, 6), values)
    np.testing.assert_allclose(every, np.cumsum(values, -1) / np.arange(1, 6))
    means = running_mean(np.array([1, 3, 5]), values[:, [0, 2, 4]])
    np.testing.assert_allclose(means[0], [4.0, (4 + 4 + 3) / 3, (4 + 4 + 3 + 5 + 5) / 5])
    np.testing.assert_allclose(means[1], 1.0)


def test_an_infinite_round_makes_the_mean_infinite_from_there_on():
    means = running_mean(np.array([1, 2, 3, 5]), np.array([[1.0, 1.0, np.inf, 1.0]]))
    np.testing.assert_array_equal(means, [[1.0, 1.0, np.inf, np.inf]])


# ---- the constants ----


def test_steepness_of_each_regulariser():
    """A box has slacks up to 1 and AᵀA = 2I; the simplex, within Σ w = 1, slacks up to 1 and I."""
    box, simplex = Box(dimension=3), Simplex(dimension=4)
    assert LogBarrier(polytope=box).steepness == pytest.approx(0.5)
    assert LogBarrier(polytope=simplex).steepness == pytest.approx(1.0)
    wide = Box(dimension=3, lower=-2.0, upper=1.0)  # slacks up to 3
    assert LogBarrier(polytope=wide).steepness == pytest.approx(4.5)
    assert Entropy(polytope=simplex).steepness == 1.25
    assert Quadratic(polytope=simplex).steepness == 1.0


def test_longest_vertex():
    assert longest_vertex(Simplex(dimension=5)) == 1
    assert longest_vertex(Budget(dimension=5, k=2)) == 2
    assert longest_vertex(Box(dimension=3)) == 3
    below = Box(dimension=2, lower=-2.0, upper=1.0)
    assert longest_vertex(below) == 4


class Fixed:
    """Rounds known by heart: X_t = diag(3, 4) and costs (3, 4)."""

    items, features = 2, 2

    def rounds(self, seeds, start, stop):
        shape = (len(seeds), stop - start)
        X = np.broadcast_to(np.diag([3.0, 4.0]), (*shape, 2, 2))
        return Rounds(X, np.broadcast_to(np.array([3.0, 4.0]), (*shape, 2)))


def test_measured_constants_of_rounds_known_by_heart():
    problem = replace(make_problem(items=2, features=2), theta_set=Ball(radius=1.5))
    found = measure_constants(sample_rounds(Fixed(), problem, (0, 1), size=64))
    assert (found.diameter, found.slope, found.costs) == pytest.approx((3.0, 4.0, 5.0))
    assert (found.suboptimality, found.vertices, found.parameters) == (math.log(2), 1.0, 2)
