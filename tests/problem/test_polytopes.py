"""Every decision set against HiGHS, brute force and its own constraints."""

from itertools import pairwise, permutations, product
from pathlib import Path

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from scipy.optimize import linprog
from scipy.sparse import eye, kron

from odfl_cli.core.errors import RowError, UserError
from odfl_cli.problem.polytopes.assignment import Assignment
from odfl_cli.problem.polytopes.box import Box
from odfl_cli.problem.polytopes.budget import Budget
from odfl_cli.problem.polytopes.custom import Custom
from odfl_cli.problem.polytopes.knapsack import Knapsack
from odfl_cli.problem.polytopes.linear import LinearSet, Polytope
from odfl_cli.problem.polytopes.shortest_path import ShortestPath
from odfl_cli.problem.polytopes.simplex import Simplex
from odfl_cli.problem.polytopes.vertices import AT_ONCE, cheapest_rows, vertices_of

CLOSED = {
    "simplex": Simplex(dimension=6),
    "box": Box(dimension=4, lower=[-1.0, 0.0, 2.0, -3.0], upper=2.5),
    "box around zero": Box(dimension=3, lower=-1.0, upper=2.0),
    "budget": Budget(dimension=7, k=3),
    "knapsack": Knapsack(dimension=8, capacity=4.5, weights_seed=3),
    "knapsack that holds everything": Knapsack(dimension=3, capacity=3.0),
    "shortest path": ShortestPath(rows=5, columns=5),
    "shortest path, wide": ShortestPath(rows=2, columns=6),
    "assignment": Assignment(size=4),
}
CUBE = {"A": [[1, 0], [0, 1], [-1, 0], [0, -1]], "b": [1, 1, 1, 1]}
CUTS = 20


def write_npz(path: Path, **arrays) -> str:
    np.savez(path, **{name: np.asarray(values, float) for name, values in arrays.items()})
    return str(path)


def from_file(polytope: Polytope, path: Path) -> Custom:
    """The same set, through HiGHS."""
    (A, b), (C, e) = polytope.faces(), polytope.equalities()
    return Custom(file=write_npz(path, A=A, b=b, **({"A_eq": C, "b_eq": e} if len(e) else {})))


@pytest.fixture(scope="module")
def sets(tmp_path_factory) -> dict[str, Polytope]:
    folder = tmp_path_factory.mktemp("sets")
    rng = np.random.default_rng(5)
    A = np.vstack([rng.normal(size=(CUTS, 5)), np.eye(5), -np.eye(5)])
    b = np.concatenate([np.full(CUTS, 1.5), np.full(10, 2.0)])
    C = rng.normal(size=(1, 5))
    random = write_npz(
        folder / "random.npz", A=A, b=b, A_eq=np.vstack([C, -2 * C]), b_eq=[0.3, -0.6]
    )
    through_highs = {
        f"custom {name}": from_file(polytope, folder / f"{name}.npz")
        for name, polytope in CLOSED.items()
    }
    return {**CLOSED, **through_highs, "custom random": Custom(file=random)}


NAMES = [*CLOSED, *(f"custom {name}" for name in CLOSED), "custom random"]


@pytest.fixture(params=NAMES)
def polytope(request, sets) -> Polytope:
    return sets[request.param]


def least_costs(polytope: Polytope, costs: np.ndarray) -> np.ndarray:
    """min ⟨costs, w⟩ of every row: linear programs side by side in one call of HiGHS."""
    (A, b), (C, e) = polytope.faces(), polytope.equalities()
    side_by_side = eye(len(costs))
    solved = linprog(
        costs.ravel(),
        A_ub=kron(side_by_side, A, format="csr"),
        b_ub=np.tile(b, len(costs)),
        A_eq=kron(side_by_side, C, format="csr") if len(e) else None,
        b_eq=np.tile(e, len(costs)) if len(e) else None,
        bounds=(None, None),
    )
    assert solved.status == 0
    return (costs * solved.x.reshape(costs.shape)).sum(1)


def test_minimise_equals_highs_on_thousands_of_costs(polytope):
    rng = np.random.default_rng(0)
    for scale, ties in product([1.0, 1e-6, 1e6], [False, True]):
        costs = rng.normal(size=(100, polytope.dimension))
        costs = scale * (np.round(costs) if ties else costs)
        w = polytope.minimise(costs)
        assert polytope.contains(w).all()
        best = scale * least_costs(polytope, costs / scale)
        np.testing.assert_allclose((costs * w).sum(1), best, rtol=0, atol=1e-8 * scale)


def test_minimise_returns_vertices(polytope):
    """The binding constraints determine the point, also where costs tie."""
    (A, b), (C, _) = polytope.faces(), polytope.equalities()
    rng = np.random.default_rng(1)
    costs = rng.normal(size=(100, polytope.dimension))
    costs[50:] = np.round(costs[50:])
    costs[-1] = 0.0
    for w in polytope.minimise(costs):
        binding = np.vstack([A[np.abs(A @ w - b) <= 1e-9], C])
        assert np.linalg.matrix_rank(binding) == polytope.dimension


def test_numpy_and_torch_agree(polytope):
    costs = np.round(np.random.default_rng(2).normal(size=(3, 4, polytope.dimension)), 1)
    on_torch = polytope.minimise(torch.from_numpy(costs))
    assert on_torch.dtype == torch.float64
    assert on_torch.shape == costs.shape
    np.testing.assert_array_equal(on_torch.numpy(), polytope.minimise(costs))
    inside = polytope.contains(on_torch)
    assert inside.dtype == torch.bool
    assert inside.shape == (3, 4)
    assert inside.all()


def test_a_row_does_not_see_the_others(polytope):
    """Bitwise, in any order and alone, also where costs tie."""
    rng = np.random.default_rng(3)
    costs = rng.normal(size=(100, polytope.dimension))
    costs[40:] = np.sign(costs[40:])
    costs[-3:] = 0.0
    w = polytope.minimise(costs)
    order = rng.permutation(len(costs))
    np.testing.assert_array_equal(polytope.minimise(costs[order]), w[order])
    for row in (0, 70, 99):
        np.testing.assert_array_equal(polytope.minimise(costs[row]), w[row])


def test_interior_point_is_strictly_inside(polytope):
    (A, b), (C, e) = polytope.faces(), polytope.equalities()
    centre = polytope.interior_point()
    assert (A @ centre < b - 1e-3).all()
    np.testing.assert_allclose(C @ centre, e, atol=1e-12)
    assert polytope.contains(centre)
    centre += 1.0
    assert polytope.contains(polytope.interior_point()), "a caller's change must not stay"


def test_faces_and_equalities_have_the_shapes_they_announce(polytope):
    (A, b), (C, e) = polytope.faces(), polytope.equalities()
    assert A.shape == (len(b), polytope.dimension)
    assert b.ndim == 1
    assert C.shape == (len(e), polytope.dimension)
    if len(e):
        assert np.linalg.matrix_rank(C) == len(e)
    assert len(e) < polytope.dimension


def test_contains_nothing_beyond_a_face_or_off_an_equality(polytope):
    (A, _), (C, _) = polytope.faces(), polytope.equalities()
    centre = polytope.interior_point()
    for farthest in polytope.minimise(-A):
        assert polytope.contains(farthest)
        assert not polytope.contains(centre + (farthest - centre) * (1 + 1e-6))
    for normal in C:
        assert not polytope.contains(centre + 1e-6 * normal)
        assert not polytope.contains(centre - 1e-6 * normal)
    assert not polytope.contains(np.full(polytope.dimension, np.nan))


def test_a_set_knows_whether_its_sum_is_constant(polytope):
    costs = np.random.default_rng(6).normal(size=(200, polytope.dimension))
    assert polytope.constant_sum == (np.ptp(polytope.minimise(costs).sum(-1)) < 1e-9)


def test_contains_within_its_tolerance():
    almost = np.array([1.0 + 1e-4, -1e-4])
    assert Simplex(dimension=2).contains(almost, tolerance=1e-3)
    assert not Simplex(dimension=2).contains(almost, tolerance=1e-5)


def test_the_general_interior_point_agrees_that_closed_sets_have_one():
    """LinearSet's own linear program on sets that override it."""
    for polytope in CLOSED.values():
        (A, b), (C, e) = polytope.faces(), polytope.equalities()
        centre = LinearSet.interior_point(polytope)
        assert (A @ centre < b).all()
        np.testing.assert_allclose(C @ centre, e, atol=1e-12)


# Each set by itself


@pytest.mark.parametrize(
    ("polytope", "costs", "expected"),
    [
        (Simplex(dimension=4), [1, 0, -0.0, 0], [0, 1, 0, 0]),
        (Simplex(dimension=3), [0, -2, -2], [0, 1, 0]),
        (Box(dimension=3, lower=-1.0, upper=2.0), [1, 0, -1], [-1, -1, 2]),
        (Budget(dimension=4, k=2), [1, 0, 0, 0], [0, 1, 1, 0]),
        (Budget(dimension=4, k=2), [0, 0, 0, 0], [1, 1, 0, 0]),
        (Knapsack(dimension=4, capacity=1.5), [-1, -1, -1, 0], [1, 0.5, 0, 0]),
        (Knapsack(dimension=3, capacity=2, weights=[1, 2, 4]), [-1, -3, -4], [0, 1, 0]),
        (Knapsack(dimension=2, capacity=9), [-1, 1], [1, 0]),
        (ShortestPath(rows=2, columns=2), [0, 0, 0, 0], [1, 0, 1, 0]),
        (ShortestPath(rows=2, columns=2), [1, 0, 0, 0], [0, 1, 0, 1]),
        (Assignment(size=2), [1, 0, 0, 1], [0, 1, 1, 0]),
    ],
)
def test_by_hand(polytope, costs, expected):
    assert polytope.minimise(np.array(costs, float)).tolist() == expected


def test_of_many_equal_costs_a_budget_takes_the_first():
    costs = np.random.default_rng(0).integers(0, 3, size=100).astype(float)
    first = sorted(range(100), key=lambda item: costs[item])[:40]
    chosen = np.flatnonzero(Budget(dimension=100, k=40).minimise(costs))
    assert chosen.tolist() == sorted(first)


def test_knapsack_against_every_packing():
    """A vertex packs some items whole and at most one in part."""
    knapsack = Knapsack(dimension=4, capacity=3.2, weights_seed=0)
    weights = knapsack.item_weights
    packings = [np.array(whole, float) for whole in product([0, 1], repeat=4)]
    packings = [w for w in packings if weights @ w <= 3.2]
    for w in list(packings):
        for i in np.flatnonzero(w == 0):
            part = w.copy()
            part[i] = min(1.0, (3.2 - weights @ w) / weights[i])
            packings.append(part)
    costs = np.random.default_rng(0).normal(size=(300, 4))
    best = (costs @ np.array(packings).T).min(1)
    np.testing.assert_allclose((costs * knapsack.minimise(costs)).sum(1), best, atol=1e-12)


def test_knapsack_weights_come_from_their_seed_alone():
    drawn = [
        Knapsack(dimension=5, capacity=c, weights_seed=s).item_weights
        for c, s in [(1, 0), (2, 0), (1, 1)]
    ]
    assert all(1 <= weight <= 2 for weights in drawn for weight in weights)
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0] != drawn[2]).all()


@pytest.mark.parametrize(("rows", "columns"), [(3, 3), (2, 4), (4, 2)])
def test_shortest_path_against_every_path(rows, columns):
    edges = []  # the documented order
    for i in range(rows):
        nodes = range(i * columns, (i + 1) * columns)
        edges += [(node, node + 1) for node in nodes[:-1]]
        edges += [(node, node + columns) for node in nodes] if i + 1 < rows else []
    moves = set(permutations([1] * (columns - 1) + [columns] * (rows - 1)))
    paths = [set(pairwise(np.cumsum([0, *steps]).tolist())) for steps in moves]
    flows = np.array([[float(edge in path) for edge in edges] for path in paths])
    polytope = ShortestPath(rows=rows, columns=columns)
    assert polytope.contains(flows).all()
    costs = np.random.default_rng(0).normal(size=(300, len(edges)))
    expected = flows[(costs @ flows.T).argmin(1)]
    np.testing.assert_array_equal(polytope.minimise(costs), expected)


def test_assignment_against_every_permutation():
    matrices = np.array([np.eye(3)[list(order)].ravel() for order in permutations(range(3))])
    costs = np.random.default_rng(0).normal(size=(300, 9))
    expected = matrices[(costs @ matrices.T).argmin(1)]
    np.testing.assert_array_equal(Assignment(size=3).minimise(costs), expected)


def test_assignments_end_where_differences_of_costs_overflow():
    costs = np.array([-1.7e308, 1.7e308, -1.7e308, 1.7e308])
    polytope = Assignment(size=2)
    assert polytope.contains(polytope.minimise(costs[None])).all()


def test_assignments_of_equal_costs_and_of_what_is_no_number():
    costs = np.zeros((3, 9))
    costs[1, 4], costs[2, 0] = np.nan, np.inf
    decisions = Assignment(size=3).minimise(costs)
    np.testing.assert_array_equal(decisions[0], np.eye(3).ravel())
    assert np.isnan(decisions[1:]).all()


def test_the_vertices_of_a_set_from_a_file_are_listed_where_they_are_few(sets):
    """A cube, the corners of a simplex, the 35 subsets of three in seven; not of a set with many cuts."""
    corners = sets["custom box around zero"].vertices
    assert {tuple(corner) for corner in corners} == set(product([-1.0, 2.0], repeat=3))
    np.testing.assert_allclose(sets["custom simplex"].vertices, np.eye(6), atol=1e-12)
    subsets = sets["custom budget"].vertices
    assert len(subsets) == len(set(map(tuple, np.round(subsets)))) == 35
    assert sets["custom random"].vertices is None


@pytest.mark.parametrize("angle", [1e-3, 1e-6, 1e-9, 1e-12])
def test_almost_parallel_faces_lose_no_optimum(tmp_path, angle):
    """A roof over the square: whether its ridge is a vertex or lost in rounding, costs are least."""
    A = [[-1, 0], [1, 0], [0, -1], [angle, 1], [-angle, 1]]
    roof = Custom(file=write_npz(tmp_path / "roof.npz", A=A, b=[1, 1, 0, 1, 1]))
    costs = np.random.default_rng(1).normal(size=(50, 2))
    costs[:10] = [0.0, -1.0]
    reached = (roof.minimise(costs) * costs).sum(1)
    np.testing.assert_allclose(reached, least_costs(roof, costs), rtol=0, atol=1e-8)
    assert roof.contains(roof.minimise(costs)).all()


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("cost", [np.nan, np.inf, -np.inf])
def test_whatever_the_costs_a_path_reaches_the_end(cost):
    """Diverging predictions are refused where they are measured, not by half a path."""
    path = ShortestPath(rows=3, columns=4)
    assert path.contains(path.minimise(np.full((1, path.dimension), cost))).all()


def test_a_wide_item_widens_no_other_face(tmp_path):
    """z is a million times as wide as the corner that x + y ≤ 1.9995 cuts off."""
    A = [*np.eye(3), *-np.eye(3), [1, 1, 0]]
    b = [1, 1, 2e6, 0, 0, -1e6, 1.9995]
    cut = Custom(file=write_npz(tmp_path / "cut.npz", A=A, b=b))
    assert len(cut.vertices) == 10  # five corners in x and y, two ends in z
    assert cut.contains(cut.minimise(np.array([[-1.0, -1.0, 0.0], [-1.0, -1.0, 1.0]]))).all()


def test_a_set_of_many_items_is_not_listed_even_if_its_vertices_are_few():
    """A thousand systems of a thousand equations would fill the memory."""
    d = 1000
    assert vertices_of(-np.eye(d), np.zeros(d), np.ones((1, d)), np.ones(1)) is None


def test_many_costs_are_compared_with_many_vertices_in_parts():
    vertices = np.random.default_rng(0).normal(size=(AT_ONCE // 3, 2))
    costs = np.random.default_rng(1).normal(size=(7, 2))
    best = (costs @ vertices.T).min(axis=1)
    np.testing.assert_allclose((cheapest_rows(vertices, costs) * costs).sum(axis=1), best)


def test_the_three_formats_say_the_same(tmp_path):
    (tmp_path / "set.yaml").write_text(
        "A: [[-1, 0, 0], [0, -1, 0], [0, 0, -1], [0, 0, 1]]\n"
        "b: [0, 0, 0, 5e-1]\nA_eq: [[1, 1, 1]]\nb_eq: [1]\n"
    )
    (tmp_path / "set.csv").write_text(
        "# a capped simplex\n1, 0, 0, >=, 0\n0, 1, 0, >=, 0\n\n"
        "1, 1, 1, =, 1\n0, 0, 1, >=, 0\n0, 0, 1, <=, 0.5  # the cap\n"
    )
    A = np.vstack([-np.eye(3), [0, 0, 1]])
    write_npz(tmp_path / "set.npz", A=A, b=[0, 0, 0, 0.5], A_eq=[[1, 1, 1]], b_eq=[1])
    for suffix in ("yaml", "csv", "npz"):
        custom = Custom(file=str(tmp_path / f"set.{suffix}"))
        for given, expected in zip(
            (*custom.faces(), *custom.equalities()),
            (A, [0, 0, 0, 0.5], [[1, 1, 1]], [1]),
            strict=True,
        ):
            np.testing.assert_array_equal(given, expected)


# Bad input


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        (Box, {"dimension": 2, "lower": 1.0}, "polytope.lower=1 should be below polytope.upper=1"),
        (Box, {"dimension": 3, "upper": [1.0, 2.0]}, "upper has 2 numbers"),
        (Box, {"dimension": 0}, "dimension"),
        (Simplex, {"dimension": 1}, "dimension"),
        (Simplex, {"dimension": 2.5}, "dimension"),
        (Box, {"dimension": 2, "lower": float("nan")}, "finite"),
        (Budget, {"dimension": 3, "k": 4}, "k=4: should be less than"),
        (Budget, {"dimension": 3, "k": 3}, "k=3: should be less than"),
        (Budget, {"dimension": 3, "k": 0}, "greater than or equal to 1"),
        (Knapsack, {"dimension": 3, "capacity": 0.0}, "greater than 0"),
        (Knapsack, {"dimension": 3, "capacity": 1.0, "weights": [1.0]}, "weights has 1 numbers"),
        (Knapsack, {"dimension": 1, "capacity": 1.0, "weights": [-1.0]}, "greater than 0"),
        (Knapsack, {"dimension": 1, "capacity": 1, "weights": [1], "weights_seed": 0}, "one of"),
        (ShortestPath, {"rows": 1, "columns": 1}, "rows"),
        (ShortestPath, {"rows": 5, "columns": 1}, "columns"),
        (Assignment, {"size": 1}, "size"),
        (Custom, {"file": ""}, "file"),
    ],
)
def test_wrong_settings_are_refused(kind, given, words):
    with pytest.raises(ValidationError, match=words):
        kind(**given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"A": [[1, 0], [-1, 0]], "b": [1, 1]}, "unbounded"),
        ({"A": [[-1, 0], [0, -1]], "b": [0, 0]}, "unbounded"),
        ({"A": [[-1, 0], [0, -1], [1, 1]], "b": [0, 0, -1]}, "empty"),
        ({"A": [[-1, 0], [0, -1], [1, 1]], "b": [0, 0, 0]}, "strictly inside every face"),
        ({**CUBE, "A_eq": [[1, 1]], "b_eq": [3]}, "empty"),
        ({**CUBE, "A_eq": [[1, 1], [2, 2]], "b_eq": [1, 1]}, "contradict"),
        ({**CUBE, "A_eq": [[1, 0], [0, 1]], "b_eq": [0, 0]}, "at most one point"),
        ({**CUBE, "b": [1e9, 1, 1, 1]}, "unbounded, or its numbers are too large"),
        ({**CUBE, "b": [1e200, 1, 1, 1]}, "b holds a number beyond"),
        ({**CUBE, "b": [1, np.nan, 1, 1]}, "b holds a number that is not finite"),
        ({**CUBE, "b": [1, 1, np.inf, 1]}, "b holds a number that is not finite"),
        ({**CUBE, "b": [1, 1]}, "A has 4 rows; b should have as many"),
        ({**CUBE, "A_eq": [[1, 1, 1]], "b_eq": [1]}, "A has 2 columns and A_eq 3"),
        ({**CUBE, "A_eq": [[1, 1]]}, "b_eq is missing"),
        ({"A": CUBE["A"]}, "b is missing"),
        ({"A_eq": [[1, 1]], "b_eq": [1]}, "A is missing"),
        ({"A": [1, 2], "b": [1, 1]}, "A should be a table"),
        ({"A": [[1, 0], [0, 0]], "b": [1, 1]}, "row 2 of A is all zeros"),
        ({**CUBE, "C": [[1, 1]]}, "C: there is no such key"),
    ],
)
def test_a_file_with_a_wrong_set_is_refused_by_name(tmp_path, given, words):
    path = tmp_path / "wrong.npz"
    with pytest.raises(UserError, match=words) as refused:
        Custom(file=write_npz(path, **given))
    assert str(refused.value).startswith(f"polytope.file={path}: ")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("missing.yaml", None, "no such file"),
        ("set.txt", "A", "should end in .yaml, .npz or .csv"),
        ("set", None, "should end in .yaml, .npz or .csv"),
        ("set.yaml", "", "should hold the keys A and b"),
        ("set.yaml", "A: [[1, 2", "not YAML"),
        ("set.yaml", "A: [[1, 2], [3]]\nb: [1, 1]", "A should hold numbers"),
        ("set.yaml", "A: [[x, 2]]\nb: [1]", "A should hold numbers"),
        ("set.yaml", "A: [[1, 2]]\nb: null", "b holds a number that is not finite"),
        ("set.yaml", b"\xff\xfe\x00", "cannot be read"),
        ("set.npz", "no archive", "not an NPZ file"),
        ("set.csv", "", "A is missing"),
        ("set.csv", "1, 1, <, 1", "line 1 should be coefficients"),
        ("set.csv", "1, 1, <=, 1\n1, <=, 1", "line 2 has another number"),
        ("set.csv", "1, a, <=, 1", "line 1 should hold numbers"),
        ("set.csv", "1, 1, <=, nan", "line 1 holds a number that is not finite"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_by_name(tmp_path, name, content, words):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UserError, match=words) as refused:
        Custom(file=str(path))
    assert str(refused.value).startswith(f"polytope.file={path}: ")
    assert "\n" not in str(refused.value)


def test_costs_that_are_not_numbers_are_refused(sets):
    costs = np.ones((3, 7))
    costs[1, 4] = np.nan
    with pytest.raises(RowError, match="found no optimum") as refused:
        sets["custom budget"].minimise(costs)
    assert (refused.value.row, refused.value.rows) == (1, 3)
