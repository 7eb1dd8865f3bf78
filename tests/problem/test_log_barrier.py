"""The log barrier: interior, optimal, differentiable, on every polytope."""

import numpy as np
import pytest
from support.sets import SETS

from odfl_cli.core.errors import RowError
from odfl_cli.problem.polytopes.custom import Custom
from odfl_cli.problem.polytopes.linear import Polytope
from odfl_cli.problem.regularizers.log_barrier import LogBarrier, bounded_faces

ALPHAS = [1.0, 0.1, 1e-3, 1e-5]
everywhere = pytest.mark.parametrize("polytope", SETS.values(), ids=SETS)


def costs(polytope: Polytope) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(20, polytope.dimension))


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
