"""The linear predictor and its transpose."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.problems import finite_difference

from odfl_cli.problem.predictors.linear import Linear


@given(d=st.integers(1, 7), p=st.integers(1, 7), seed=st.integers(0, 1000))
def test_predict_is_the_matrix_product(d, p, seed):
    rng = np.random.default_rng(seed)
    X, theta = rng.normal(size=(3, d, p)), rng.normal(size=(3, p))
    expected = np.stack([X[s] @ theta[s] for s in range(3)])
    np.testing.assert_allclose(Linear().predict(theta, X), expected, atol=1e-13)
    on_torch = Linear().predict(torch.tensor(theta), torch.tensor(X))
    np.testing.assert_allclose(on_torch.numpy(), expected, atol=1e-13)


@given(d=st.integers(1, 7), p=st.integers(1, 7), seed=st.integers(0, 1000))
def test_vjp_is_the_adjoint(d, p, seed):
    """⟨v, X u⟩ = ⟨Xᵀ v, u⟩ for every direction u."""
    rng = np.random.default_rng(seed)
    X, theta, u, v = (rng.normal(size=size) for size in ((d, p), p, p, d))
    assert v @ (X @ u) == pytest.approx(Linear().vjp(theta, X, v) @ u, abs=1e-12)


def test_vjp_is_the_finite_difference_and_autograd():
    rng = np.random.default_rng(0)
    X, theta, v = rng.normal(size=(4, 3)), rng.normal(size=3), rng.normal(size=4)
    closed = Linear().vjp(theta, X, v)
    numeric = finite_difference(lambda at: v @ Linear().predict(at, X), theta)
    np.testing.assert_allclose(closed, numeric, atol=1e-8)

    leaf = torch.tensor(theta, requires_grad=True)
    (Linear().predict(leaf, torch.tensor(X)) @ torch.tensor(v)).backward()
    np.testing.assert_allclose(closed, leaf.grad.numpy(), atol=1e-13)


def test_leading_axes_broadcast():
    """One θ per seed against a batch of rounds per seed."""
    rng = np.random.default_rng(1)
    X, theta, v = (
        rng.normal(size=(2, 6, 4, 3)),
        rng.normal(size=(2, 1, 3)),
        rng.normal(size=(2, 6, 4)),
    )
    predicted, pulled = Linear().predict(theta, X), Linear().vjp(theta, X, v)
    for s, i in np.ndindex(2, 6):
        np.testing.assert_allclose(predicted[s, i], X[s, i] @ theta[s, 0], atol=1e-13)
        np.testing.assert_allclose(pulled[s, i], X[s, i].T @ v[s, i], atol=1e-13)


def test_one_weight_per_feature():
    assert Linear().parameter_count(items=80, features=10) == 10
