"""The simplex against an independent LP solver."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from pydantic import ValidationError
from scipy.optimize import linprog

from odfl_cli.problem.polytopes.simplex import Simplex

costs_with_ties = hnp.arrays(
    float, st.integers(2, 8), elements=st.sampled_from([-2.0, -0.0, 0.0, 1.0])
)


@pytest.mark.parametrize("dimension", [2, 5, 40])
def test_minimise_solves_the_linear_program(dimension):
    simplex = Simplex(dimension=dimension)
    A, b = simplex.faces()
    assert A.shape == (dimension, dimension)
    for costs in np.random.default_rng(dimension).normal(size=(10, dimension)):
        solved = linprog(
            costs, A_ub=A, b_ub=b, A_eq=np.ones((1, dimension)), b_eq=[1], bounds=(None, None)
        )
        decision = simplex.minimise(costs)
        assert costs @ decision == pytest.approx(solved.fun, abs=1e-12)
        np.testing.assert_allclose(decision, solved.x, atol=1e-12)


@given(costs=costs_with_ties)
def test_ties_go_to_the_lowest_index(costs):
    decision = Simplex(dimension=costs.size).minimise(costs)
    lowest = next(i for i, cost in enumerate(costs) if cost == min(costs))
    assert decision.tolist() == [float(i == lowest) for i in range(costs.size)]


@given(costs=costs_with_ties)
def test_numpy_and_torch_agree(costs):
    simplex = Simplex(dimension=costs.size)
    on_torch = simplex.minimise(torch.from_numpy(costs))
    assert on_torch.dtype == torch.float64
    np.testing.assert_array_equal(on_torch.numpy(), simplex.minimise(costs))


def test_minimise_works_row_by_row():
    costs = np.random.default_rng(0).normal(size=(3, 4, 5))
    simplex = Simplex(dimension=5)
    decisions = simplex.minimise(costs)
    for index in np.ndindex(3, 4):
        np.testing.assert_array_equal(decisions[index], simplex.minimise(costs[index]))


def test_interior_point_is_strictly_inside():
    simplex = Simplex(dimension=6)
    centre = simplex.interior_point()
    A, b = simplex.faces()
    assert (A @ centre < b).all()
    assert simplex.contains(centre)


@given(
    weights=hnp.arrays(float, 5, elements=st.floats(0, 10)).filter(lambda weights: sum(weights) > 0)
)
def test_contains_every_mixture(weights):
    assert Simplex(dimension=5).contains(weights / weights.sum())


@pytest.mark.parametrize("array", [np.asarray, torch.tensor])
def test_contains_nothing_else(array):
    simplex = Simplex(dimension=3)
    points = array(
        [[0.5, 0.5, 0.0], [0.6, 0.5, -0.1], [0.5, 0.4, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    )
    assert simplex.contains(points).tolist() == [True, False, False, False, False]


def test_contains_within_its_tolerance():
    simplex = Simplex(dimension=2)
    almost = np.array([1.0 + 1e-4, -1e-4])
    assert simplex.contains(almost, tolerance=1e-3)
    assert not simplex.contains(almost, tolerance=1e-5)


@pytest.mark.parametrize("dimension", [1, 0, -3, 2.5])
def test_needs_two_items(dimension):
    with pytest.raises(ValidationError, match="dimension"):
        Simplex(dimension=dimension)
