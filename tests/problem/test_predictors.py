"""Affine, per-item and quadratic predictors: what they compute, and that the gradient is the gradient."""

import numpy as np
import pytest
import torch
from support.problems import finite_difference

from odfl_cli.problem.predictors.base import Predictor
from odfl_cli.problem.predictors.linear import Affine, Linear, PerItem, Quadratic

PREDICTORS: list[Predictor] = [Linear(), Affine(), PerItem(), Quadratic()]
every = pytest.mark.parametrize("predictor", PREDICTORS, ids=lambda p: type(p).__name__)
D, P = 4, 3


def game(predictor: Predictor, *lead: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """θ [..., m], X [..., d, p] and v [..., d]."""
    rng = np.random.default_rng(seed)
    m = predictor.parameter_count(D, P)
    return rng.normal(size=(*lead, m)), rng.normal(size=(*lead, D, P)), rng.normal(size=(*lead, D))


def test_linear_is_the_matrix_product_with_one_weight_per_feature() -> None:
    theta, X, v = game(Linear())
    assert len(theta) == P
    np.testing.assert_allclose(Linear().predict(theta, X), X @ theta, atol=1e-13)
    np.testing.assert_allclose(Linear().vjp(theta, X, v), X.T @ v, atol=1e-13)


def test_affine_is_linear_plus_the_last_parameter() -> None:
    theta, X, v = game(Affine())
    assert len(theta) == P + 1
    np.testing.assert_allclose(Affine().predict(theta, X), X @ theta[:P] + theta[P], atol=1e-13)
    np.testing.assert_allclose(Affine().vjp(theta, X, v), [*(X.T @ v), v.sum()], atol=1e-13)


def test_per_item_gives_every_item_its_own_weights() -> None:
    theta, X, v = game(PerItem())
    assert len(theta) == D * P
    predicted, pulled = PerItem().predict(theta, X), PerItem().vjp(theta, X, v)
    for i in range(D):
        part = slice(i * P, (i + 1) * P)
        assert predicted[i] == pytest.approx(X[i] @ theta[part])
        np.testing.assert_allclose(pulled[part], v[i] * X[i], atol=1e-13)


def test_quadratic_is_a_form_with_one_weight_for_each_distinct_product() -> None:
    """θ_0 + ⟨x, b⟩ + xᵀAx with A upper triangular, filled row by row."""
    theta, X, _ = game(Quadratic())
    assert len(theta) == 1 + P + P * (P + 1) // 2
    A = np.zeros((P, P))
    A[np.triu_indices(P)] = theta[1 + P :]
    expected = [theta[0] + x @ theta[1 : 1 + P] + x @ A @ x for x in X]
    np.testing.assert_allclose(Quadratic().predict(theta, X), expected, atol=1e-12)


@every
def test_design_times_theta_is_the_prediction(predictor: Predictor) -> None:
    theta, X, _ = game(predictor, 2)
    D = predictor.design(X)  # type: ignore[attr-defined]
    expected = predictor.predict(theta, X)
    np.testing.assert_allclose((D @ theta[..., None])[..., 0], expected, atol=1e-12)


@every
def test_vjp_is_the_finite_difference_and_autograd(predictor: Predictor) -> None:
    theta, X, v = game(predictor)
    closed = predictor.vjp(theta, X, v)
    assert closed.shape == theta.shape
    numeric = finite_difference(lambda at: v @ predictor.predict(at, X), theta)
    np.testing.assert_allclose(closed, numeric, atol=1e-8)
    leaf = torch.tensor(theta, requires_grad=True)
    (predictor.predict(leaf, torch.tensor(X)) @ torch.tensor(v)).backward()
    np.testing.assert_allclose(closed, leaf.grad.numpy(), atol=1e-13)


@every
def test_leading_axes_broadcast(predictor: Predictor) -> None:
    """One θ per seed against a batch of rounds per seed, as DF-FTPL samples them."""
    theta, X, v = game(predictor, 2, 6)
    theta = theta[:, :1]
    for convert in (np.asarray, torch.tensor):
        given = convert(theta), convert(X)
        predicted, pulled = predictor.predict(*given), predictor.vjp(*given, convert(v))
        assert tuple(pulled.shape) == (2, 6, theta.shape[-1])
        for s, i in np.ndindex(2, 6):
            alone = theta[s, 0], X[s, i]
            np.testing.assert_allclose(predicted[s, i], predictor.predict(*alone), atol=1e-13)
            np.testing.assert_allclose(pulled[s, i], predictor.vjp(*alone, v[s, i]), atol=1e-13)
