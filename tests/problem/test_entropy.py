"""The softmax is the minimiser it claims to be, and its Jacobian is right."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from pydantic import ValidationError

from odfl_cli.core.settings import settings
from odfl_cli.problem.polytopes.assignment import Assignment
from odfl_cli.problem.polytopes.box import Box
from odfl_cli.problem.polytopes.budget import Budget
from odfl_cli.problem.polytopes.custom import Custom
from odfl_cli.problem.polytopes.simplex import Simplex
from odfl_cli.problem.regularizers.entropy import Entropy

predictions = hnp.arrays(float, st.integers(2, 9), elements=st.floats(-10, 10))
alphas = st.floats(0.05, 20)


def entropy(dimension: int) -> Entropy:
    return Entropy(polytope=Simplex(dimension=dimension))


@given(g=predictions, alpha=alphas)
def test_kkt_residual(g, alpha):
    """g_i + α (ln w_i + 1) is the same multiplier for every item of positive weight."""
    w = entropy(g.size).smooth(g, alpha)
    inside = w > 1e-290
    multipliers = g[inside] + alpha * (np.log(w[inside]) + 1)
    assert np.ptp(multipliers) < 1e-11 * (1 + np.abs(g).max() + alpha)
    assert w.min() >= 0
    assert w.sum() == pytest.approx(1, abs=1e-14)


def test_suboptimality_is_the_range_of_the_entropy():
    """Σ w ln w runs from −ln d at the centre to 0 at a vertex."""
    d = 7
    centre = sum(w * math.log(w) for w in np.full(d, 1 / d))
    assert entropy(d).suboptimality == pytest.approx(0 - centre)


@given(g=hnp.arrays(float, 6, elements=st.integers(-50, 50).map(float)))
def test_small_alpha_is_the_plain_decision(g):
    """Equal predictions share the weight; otherwise the limit is the vertex."""
    best = (g == g.min()) / np.count_nonzero(g == g.min())
    np.testing.assert_allclose(entropy(6).smooth(g, 1e-3), best, atol=1e-12)


@given(alpha=st.floats(0.3, 5), seed=st.integers(0, 1000))
def test_vjp_is_that_of_autograd(alpha, seed):
    rng = np.random.default_rng(seed)
    g, v = rng.normal(size=(2, 5))
    regularizer = entropy(5)
    closed = regularizer.vjp(regularizer.smooth(g, alpha), alpha, v)
    leaf = torch.tensor(g, requires_grad=True)
    (torch.softmax(-leaf / alpha, dim=-1) @ torch.tensor(v)).backward()
    np.testing.assert_allclose(closed, leaf.grad.numpy(), atol=1e-13)


@pytest.mark.parametrize("array", [np.asarray, torch.tensor])
def test_no_overflow_at_tiny_alpha(array):
    g = np.random.default_rng(0).normal(size=(3, 500)) * 100
    v = np.random.default_rng(1).normal(size=(3, 500))
    regularizer = entropy(500)
    w = regularizer.smooth(array(g), 1e-6)
    np.testing.assert_array_equal(np.asarray(w), np.eye(500)[g.argmin(-1)])
    np.testing.assert_array_equal(np.asarray(regularizer.vjp(w, 1e-6, array(v))), 0)


@pytest.mark.parametrize("level", [-1e3, 0.0, 1e3])
def test_identical_predictions_are_played_uniformly(level):
    w = entropy(500).smooth(np.full(500, level), 1e-6)
    np.testing.assert_allclose(w, 1 / 500, rtol=1e-14)


@settings
class Scaled(Simplex):
    """{w ≥ 0, Σ w_i = 2}."""

    def equalities(self):
        return np.ones((1, self.dimension)), np.array([2.0])


@pytest.mark.parametrize(
    "other",
    [
        Box(dimension=3),
        Budget(dimension=3, k=1),  # the same set, with faces w ≤ 1 besides
        Assignment(size=2),
        Scaled(dimension=3),
    ],
    ids=lambda polytope: type(polytope).__name__,
)
def test_the_simplex_is_the_only_set(other):
    with pytest.raises(ValidationError, match="smooths the simplex only"):
        Entropy(polytope=other)


def test_the_simplex_is_recognised_by_its_constraints(tmp_path):
    """This includes a simplex that a file states."""
    path = tmp_path / "simplex.csv"
    path.write_text("1,0,>=,0\n0,1,>=,0\n1,1,=,1\n")
    assert Entropy(polytope=Custom(file=str(path))).suboptimality == np.log(2)
