"""The log barrier: interior, optimal, differentiable, on every polytope."""

import numpy as np
import pytest
import torch
from support.sets import SETS

from odfl_cli.core.errors import RowError
from odfl_cli.problem.polytopes.custom import Custom
from odfl_cli.problem.polytopes.linear import Polytope
from odfl_cli.problem.regularizers.log_barrier import LogBarrier, bounded_faces

ALPHAS = [1.0, 0.1, 1e-3, 1e-5]
everywhere = pytest.mark.parametrize("polytope", SETS.values(), ids=SETS)


def costs(polytope: Polytope, rows: int = 20, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, polytope.dimension))


def null_space(polytope: Polytope) -> np.ndarray:
    C, _ = polytope.equalities()
    if len(C) == 0:
        return np.eye(polytope.dimension)
    _, singular, right = np.linalg.svd(C)
    return right[int((singular > 1e-10).sum()) :].T


@everywhere
@pytest.mark.parametrize("alpha", ALPHAS)
def test_interior_and_optimal(polytope: Polytope, alpha: float) -> None:
    g = costs(polytope)
    barrier = LogBarrier(polytope=polytope)
    w = barrier.smooth(g, alpha)
    (A, b), (C, e) = polytope.faces(), polytope.equalities()
    slacks = b - w @ A.T
    assert (slacks > 0).all()
    np.testing.assert_allclose(w @ C.T, np.broadcast_to(e, (len(w), len(e))), atol=1e-9)
    gradient = (g + alpha * (1.0 / slacks) @ A) @ null_space(polytope)
    assert np.linalg.norm(gradient, axis=-1).max() < 1e-8 + 1e-15 / slacks.min()
    assert barrier.suboptimality == len(b)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_on_the_simplex_one_multiplier_gives_all_items(alpha: float) -> None:
    """w_i = α / (g_i − y), with the y below all g_i at which they sum to one, by bisection."""
    g = costs(SETS["simplex"])
    lowest = g.min(1, keepdims=True)
    low, high = lowest - alpha * g.shape[1], lowest - alpha
    for _ in range(200):
        y = (low + high) / 2
        above = (alpha / (g - y)).sum(1, keepdims=True) > 1.0
        low, high = np.where(above, low, y), np.where(above, y, high)
    w = LogBarrier(polytope=SETS["simplex"]).smooth(g, alpha)
    np.testing.assert_allclose(w, alpha / (g - y), rtol=1e-9)


def test_an_alpha_out_of_reach_is_no_silent_answer() -> None:
    polytope = SETS["knapsack"]
    with pytest.raises(RowError, match="residual"):
        LogBarrier(polytope=polytope).smooth(1e8 * costs(polytope), 1e-12)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")  # of cvxpylayers, about numpy
@pytest.mark.parametrize("name", ["simplex", "knapsack", "shortest_path"])
def test_agrees_with_cvxpylayers(name: str) -> None:
    cp = pytest.importorskip("cvxpy", reason="cvxpylayers is a dev extra")
    layers = pytest.importorskip("cvxpylayers.torch", reason="cvxpylayers is a dev extra")
    polytope, alpha = SETS[name], 0.5
    (A, b), (C, e) = polytope.faces(), polytope.equalities()
    w, g = cp.Variable(polytope.dimension), cp.Parameter(polytope.dimension)
    constraints = [C @ w == e] if len(C) else []
    objective = cp.Minimize(g @ w - alpha * cp.sum(cp.log(b - A @ w)))
    layer = layers.CvxpyLayer(cp.Problem(objective, constraints), parameters=[g], variables=[w])
    values = torch.from_numpy(costs(polytope, rows=3)).requires_grad_()
    v = torch.from_numpy(costs(polytope, rows=3, seed=1))
    (theirs,) = layer(values, solver_args={"eps": 1e-10})
    (theirs * v).sum().backward()
    barrier = LogBarrier(polytope=polytope)
    ours = barrier.smooth(values.detach().numpy(), alpha)
    np.testing.assert_allclose(ours, theirs.detach().numpy(), atol=1e-5)
    np.testing.assert_allclose(barrier.vjp(ours, alpha, v.numpy()), values.grad.numpy(), atol=1e-4)


def test_a_set_without_bounds_of_its_own(tmp_path) -> None:
    """A square on its corner, |w_1| + |w_2| ≤ 1, and a third item that is their sum."""
    file = tmp_path / "diamond.csv"
    file.write_text("1,1,0,<=,1\n1,-1,0,<=,1\n-1,1,0,<=,1\n-1,-1,0,<=,1\n1,1,-1,=,0\n")
    diamond = Custom(file=str(file))
    barrier = LogBarrier(polytope=diamond)
    (A, b), g = bounded_faces(diamond), costs(diamond)
    assert barrier.suboptimality == len(b) == 7
    assert ((b[:4] - (diamond.minimise(g) @ A.T)[:, :4]) >= -1e-9).all()
    assert (b[4:] - diamond.minimise(g) @ A[4:].T > 0.5).all()  # redundant everywhere on W
    for alpha in (1.0, 1e-3):
        w = barrier.smooth(g, alpha)
        slacks = b - w @ A.T
        assert (slacks > 0).all()
        gradient = (g + alpha * (1.0 / slacks) @ A) @ null_space(diamond)
        assert np.abs(gradient).max() < 1e-8
        gap = (g * (w - diamond.minimise(g))).sum(-1)
        assert (gap <= 7 * alpha).all()
