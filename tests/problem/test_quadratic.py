"""The Euclidean projection is the minimiser it claims to be, and its Jacobian is right."""

import pickle
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odfl_cli.core.errors import RowError
from odfl_cli.problem.polytopes.assignment import Assignment
from odfl_cli.problem.polytopes.box import Box
from odfl_cli.problem.polytopes.budget import Budget
from odfl_cli.problem.polytopes.custom import Custom
from odfl_cli.problem.polytopes.knapsack import Knapsack
from odfl_cli.problem.polytopes.linear import Polytope
from odfl_cli.problem.polytopes.shortest_path import ShortestPath
from odfl_cli.problem.polytopes.simplex import Simplex
from odfl_cli.problem.regularizers.projection import Faces, WeightedSum
from odfl_cli.problem.regularizers.quadratic import Quadratic

CLOSED = {
    "simplex": Simplex(dimension=6),
    "box": Box(dimension=6, lower=-0.5, upper=(1.0, 0.5, 2.0, 1.0, 0.1, 3.0)),
    "budget": Budget(dimension=6, k=3),
    "knapsack": Knapsack(dimension=6, capacity=3.0, weights=(1, 2, 1, 4, 2, 1)),
    "roomy_knapsack": Knapsack(dimension=4, capacity=100.0),
}
BY_SOLVER = {"shortest_path": ShortestPath(rows=3, columns=4), "assignment": Assignment(size=3)}
SETS = {**CLOSED, **BY_SOLVER}
every_set = pytest.mark.parametrize("name", SETS)
closed_set = pytest.mark.parametrize("name", CLOSED)
seeds = st.integers(0, 10_000)


@cache
def quadratic(name: str) -> Quadratic:
    if name in BY_SOLVER:
        pytest.importorskip("quadprog", reason="quadprog projects onto these sets")
    return Quadratic(polytope=SETS[name])


def polygon(tmp_path, **arrays: np.ndarray) -> Custom:
    """A custom set, from a file."""
    pytest.importorskip("highspy", reason="HiGHS minimises over custom sets")
    path = tmp_path / "set.npz"
    np.savez(path, **{key: np.asarray(value, dtype=float) for key, value in arrays.items()})
    return Custom(file=str(path))


def draws(name: str, seed: int, rows: int = 20, ties: bool = False) -> np.ndarray:
    g = np.random.default_rng(seed).normal(size=(rows, SETS[name].dimension))
    return np.round(2 * g) if ties else g


def gap(polytope: Polytope, q: np.ndarray, w: np.ndarray) -> np.ndarray:
    """max_v ⟨q, w − v⟩ over W."""
    return (q * (w - polytope.minimise(q))).sum(-1)


def assert_inside(polytope: Polytope, w: np.ndarray, tolerance: float = 1e-11) -> None:
    (A, b), (C, e) = polytope.faces(), polytope.equalities()
    assert (w @ A.T - b).max() <= tolerance
    assert np.abs(w @ C.T - e).max(initial=0) <= tolerance


@every_set
@pytest.mark.parametrize("ties", [False, True])
@given(alpha=st.floats(0.02, 50), seed=seeds)
def test_the_variational_inequality(name, ties, alpha, seed):
    """⟨g + α (w̃ − w₀), v − w̃⟩ ≥ 0 for every v, so for the vertex that makes it smallest."""
    g = draws(name, seed, ties=ties)
    w = quadratic(name).smooth(g, alpha)
    assert_inside(SETS[name], w)
    slope = g + alpha * (w - SETS[name].interior_point())
    assert gap(SETS[name], slope, w).max() < 1e-11 * (1 + alpha)


@closed_set
@pytest.mark.parametrize("ties", [False, True])
@given(exponent=st.floats(-6, 3), seed=seeds)
def test_closed_forms_are_what_quadprog_finds(name, ties, exponent, seed):
    pytest.importorskip("quadprog")
    g, alpha = draws(name, seed, ties=ties), 10.0**exponent
    solver = Faces(SETS[name])
    w = quadratic(name).smooth(g, alpha)
    found = solver.project(g, np.full((len(g), 1), alpha))
    np.testing.assert_allclose(w, found, atol=1e-8)
    np.testing.assert_allclose(-quadratic(name).vjp(w, 1.0, g), solver.tangent(w, g), atol=1e-11)


@closed_set
def test_the_closed_form_is_used(name):
    assert isinstance(quadratic(name).projection, WeightedSum)


@every_set
@pytest.mark.parametrize("alpha", [1e-4, 1e-8, 1e-12, 1e-20, 1e-200])
def test_small_alpha_is_the_plain_decision(name, alpha):
    g = draws(name, 3, rows=50)
    w = quadratic(name).smooth(g, alpha)
    np.testing.assert_allclose(w, SETS[name].minimise(g), atol=1e-12)


@every_set
@pytest.mark.parametrize("alpha", [1e-4, 1e-8, 1e-12, 1e-20, 1e-200])
def test_ties_keep_their_digits_at_small_alpha(name, alpha):
    """No digit is lost in −g/α: the point is feasible, as cheap as the best, and of least norm among those."""
    g = draws(name, 4, rows=100, ties=True)
    w = quadratic(name).smooth(g, alpha)
    assert_inside(SETS[name], w, 2e-12)
    assert gap(SETS[name], g, w).max() < 1e-12
    least = quadratic(name).smooth(g, 1e-3)  # small enough to be the limit for whole numbers
    np.testing.assert_allclose(w, least, atol=1e-6 if name in BY_SOLVER else 1e-12)


def test_suboptimality_is_half_the_largest_squared_distance():
    expected = {
        "simplex": (1 - 1 / 6) / 2,
        "budget": 3 * (1 - 3 / 6) / 2,
        "box": (1.5**2 + 1 + 2.5**2 + 1.5**2 + 0.6**2 + 3.5**2) / 8,
        "roomy_knapsack": 4 / 8,
        "assignment": 3 * (1 - 1 / 3) / 2,
    }
    for name, value in expected.items():
        assert quadratic(name).suboptimality == pytest.approx(value), name


@every_set
@given(alpha=st.floats(0.02, 5), seed=seeds)
def test_the_jacobian_is_a_symmetric_projector(name, alpha, seed):
    regularizer, d = quadratic(name), SETS[name].dimension
    w = regularizer.smooth(draws(name, seed, rows=1)[0], alpha)
    P = -regularizer.vjp(np.tile(w, (d, 1)), 1.0, np.eye(d))
    np.testing.assert_allclose(P, P.T, atol=1e-12)
    np.testing.assert_allclose(P @ P, P, atol=1e-12)
    (A, b), (C, _) = SETS[name].faces(), SETS[name].equalities()
    active = np.vstack([A[b - A @ w <= 1e-9], C])
    np.testing.assert_allclose(active @ P, 0, atol=1e-11)
    assert np.trace(P) == pytest.approx(d - (np.linalg.matrix_rank(active) if len(active) else 0))


@every_set
def test_a_vertex_has_no_gradient(name):
    w = SETS[name].minimise(draws(name, 6))
    np.testing.assert_allclose(quadratic(name).vjp(w, 0.1, draws(name, 7)), 0, atol=1e-14)


@pytest.mark.parametrize("name", ["simplex", "budget", "assignment", "shortest_path"])
def test_equal_costs_give_exactly_zero(name):
    """Every decision costs the same then; a rounding error would be followed by a later argmin."""
    w = quadratic(name).smooth(draws(name, 8), 1.0)
    np.testing.assert_array_equal(quadratic(name).vjp(w, 1e-3, np.full(w.shape, 0.7)), 0)


def test_whole_numbers_are_predictions_too():
    w = quadratic("simplex").smooth(np.array([0, 0, 5, 5, 5, 5]), 1.0)
    np.testing.assert_array_equal(w, [0.5, 0.5, 0, 0, 0, 0])


def test_a_custom_triangle_and_a_custom_box(tmp_path):
    """A triangle goes through quadprog; a box in disguise is recognised."""
    pytest.importorskip("quadprog")
    polytope = polygon(tmp_path, A=[[-1, 0], [0, -2], [1, 1], [1, -3]], b=[0, 0, 1, 1])
    triangle, centre = Quadratic(polytope=polytope), polytope.interior_point()
    assert isinstance(triangle.projection, Faces)
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    farthest = ((corners - centre) ** 2).sum(-1).max() / 2
    assert farthest <= triangle.suboptimality < 0.5
    for point, nearest in [
        ([2, 2], [0.5, 0.5]),
        ([-1, 0.3], [0, 0.3]),
        ([5, 1], [1, 0]),
        ([0.2, 0.1], [0.2, 0.1]),
    ]:
        w = triangle.smooth(-3.0 * (np.array(point) - centre), 3.0)
        np.testing.assert_allclose(w, nearest, atol=1e-14)
    w = triangle.smooth(np.array([-2.0, -2.0]), 1.0)
    np.testing.assert_allclose(triangle.vjp(w, 2.0, np.array([1.0, 0.0])), [-0.25, 0.25])

    box = polygon(tmp_path, A=[[-2, 0], [0, -1], [4, 0], [0, 3], [1, 0]], b=[1, 0, 8, 3, 9])
    projection = Quadratic(polytope=box).projection
    assert isinstance(projection, WeightedSum)
    np.testing.assert_array_equal([projection.lower, projection.upper], [[-0.5, 0], [2, 1]])


def test_a_run_can_carry_it_to_another_process():
    g = draws("assignment", 14)
    copy = pickle.loads(pickle.dumps(quadratic("assignment")))
    np.testing.assert_array_equal(copy.smooth(g, 0.3), quadratic("assignment").smooth(g, 0.3))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_prediction_that_is_no_number_is_not_decided_on(bad):
    g = draws("assignment", 15)
    g[7, 2] = bad
    with pytest.raises(RowError, match="not finite") as caught:
        quadratic("assignment").smooth(g, 1.0)
    assert (caught.value.row, caught.value.rows) == (7, 20)


@pytest.mark.parametrize("name", ["simplex", "budget", "knapsack"])
def test_closed_forms_hand_on_what_is_no_number(name):
    g = draws(name, 15)
    g[7, 2] = np.nan
    w = quadratic(name).smooth(g, 1.0)
    assert np.isnan(w[7]).all()
    assert np.isfinite(np.delete(w, 7, axis=0)).all()


def test_alpha_is_positive_and_one_per_row():
    g = draws("simplex", 16)
    with pytest.raises(ValueError, match="positive"):
        quadratic("simplex").smooth(g, 0.0)
    with pytest.raises(ValueError, match="one number per row"):
        quadratic("simplex").smooth(g, np.ones(20))
