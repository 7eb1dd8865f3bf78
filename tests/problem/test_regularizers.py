"""What every regulariser has in common, on every set that it accepts."""

import numpy as np
import pytest
import torch
from support.sets import SETS

from odfl_cli.problem.regularizers.entropy import Entropy
from odfl_cli.problem.regularizers.log_barrier import LogBarrier
from odfl_cli.problem.regularizers.quadratic import Quadratic

PARTS = [
    Entropy(polytope=SETS["simplex"]),
    *(LogBarrier(polytope=polytope, tolerance=1e-12) for polytope in SETS.values()),
    *(Quadratic(polytope=polytope) for polytope in SETS.values()),
]


def name_of(part) -> str:
    return f"{type(part).__name__} on {type(part.polytope).__name__}"


every = pytest.mark.parametrize("regularizer", PARTS, ids=name_of)
level = pytest.mark.parametrize(
    "regularizer", [part for part in PARTS if part.polytope.constant_sum], ids=name_of
)


def draws(regularizer, seed: int, rows: int = 20) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, regularizer.polytope.dimension))


@every
@pytest.mark.parametrize("alpha", [1e-3, 0.1, 1.0, 20.0])
def test_costs_at_most_n_alpha_more_than_the_best(regularizer, alpha):
    g = draws(regularizer, 0)
    w = regularizer.smooth(g, alpha)
    excess = (g * (w - regularizer.polytope.minimise(g))).sum(-1)
    assert excess.min() >= -1e-10
    assert excess.max() <= regularizer.suboptimality * alpha + 1e-10


@every
@pytest.mark.parametrize("alpha", [1.0, 0.05])
def test_vjp_is_the_derivative(regularizer, alpha):
    """Along a line, where it has no kink within the step: a projection gains and loses faces."""
    g, v, direction = (draws(regularizer, seed) for seed in (1, 2, 3))
    step = 1e-4 * alpha
    ahead, w, behind = (regularizer.smooth(g + h * direction, alpha) for h in (step, 0.0, -step))
    bend, way = (np.abs(ends).max(-1) for ends in (ahead + behind - 2 * w, ahead - behind))
    smooth = bend <= 1e-2 * way + 1e-12
    assert smooth.mean() > 0.8
    numeric = ((ahead - behind) * v).sum(-1) / (2 * step)
    exact = (regularizer.vjp(w, alpha, v) * direction).sum(-1)
    np.testing.assert_allclose(exact[smooth], numeric[smooth], rtol=1e-5, atol=1e-6 / alpha)


@every
def test_rows_do_not_see_each_other_and_torch_agrees(regularizer):
    """Bitwise alone and among others; torch has an exponential of its own."""
    g, v = draws(regularizer, 4), draws(regularizer, 5)
    alpha = np.geomspace(1e-4, 3.0, len(g))[:, None]
    w = regularizer.smooth(g, alpha)
    pulled = regularizer.vjp(w, alpha, v)
    for rows in (slice(0, 1), slice(7, 8), slice(4, 7)):
        np.testing.assert_array_equal(regularizer.smooth(g[rows], alpha[rows]), w[rows])
        np.testing.assert_array_equal(regularizer.vjp(w[rows], alpha[rows], v[rows]), pulled[rows])
    np.testing.assert_array_equal(regularizer.smooth(g[3], float(alpha[3, 0])), w[3])
    tensors = [torch.from_numpy(values).reshape(4, 5, -1) for values in (g, alpha, v)]
    on_torch = regularizer.smooth(*tensors[:2])
    np.testing.assert_allclose(on_torch.reshape(w.shape).numpy(), w, rtol=1e-13)
    back = regularizer.vjp(torch.from_numpy(w).reshape(4, 5, -1), *tensors[1:])
    np.testing.assert_allclose(back.reshape(w.shape).numpy(), pulled, rtol=1e-11, atol=1e-11)


@every
def test_leading_axes_and_alpha_broadcast(regularizer):
    g, alpha = draws(regularizer, 6, rows=6).reshape(2, 3, -1), np.array([[0.2], [1.0], [4.0]])
    w, spread = regularizer.smooth(g, alpha), regularizer.smooth(g[0, 0], alpha)
    for j in range(3):
        np.testing.assert_array_equal(w[:, j], regularizer.smooth(g[:, j], alpha[j, 0]))
        np.testing.assert_array_equal(spread[j], regularizer.smooth(g[0, 0], alpha[j, 0]))


@level
@pytest.mark.parametrize("shift", [-1e3, 0.1, 50.0])
def test_a_constant_added_to_all_predictions_changes_nothing(regularizer, shift):
    g = draws(regularizer, 7)
    np.testing.assert_allclose(
        regularizer.smooth(g + shift, 0.5), regularizer.smooth(g, 0.5), atol=1e-10
    )
