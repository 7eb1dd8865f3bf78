"""Gradients of the smoothed losses."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.problems import finite_difference, make_problem, random_rounds

from odfl_cli.problem.surrogate import PerturbedLeader, SmoothedCost


@given(alpha=st.floats(0.3, 5), seed=st.integers(0, 1000))
def test_gradient_is_closed_form_finite_difference_and_autograd(alpha, seed):
    X, c = (part[0, 0] for part in random_rounds(1, 1, items=4, features=3, seed=seed))
    theta = np.random.default_rng(seed + 1).normal(size=3)
    loss = SmoothedCost(make_problem(), X, c, alpha)
    gradient = loss.gradient(theta)

    # −(1/α) Xᵀ [w̃ ∘ (c − f̃)]
    weights = np.exp(-X @ theta / alpha)
    w = weights / weights.sum()
    assert loss.value(theta) == pytest.approx(c @ w, abs=1e-13)
    np.testing.assert_allclose(gradient, -X.T @ (w * (c - c @ w)) / alpha, atol=1e-12)

    np.testing.assert_allclose(gradient, finite_difference(loss.value, theta), atol=1e-7)

    leaf = torch.tensor(theta, requires_grad=True)
    decision = torch.softmax(-torch.tensor(X) @ leaf / alpha, dim=-1)
    (torch.tensor(c) @ decision).backward()
    np.testing.assert_allclose(gradient, leaf.grad.numpy(), atol=1e-12)


def test_seeds_do_not_mix():
    X, c = (part[:, 0] for part in random_rounds(3, 1, items=4, features=3))
    theta = np.random.default_rng(1).normal(size=(3, 3))
    alpha = np.array([[0.2], [1.0], [3.0]])
    together = SmoothedCost(make_problem(), X, c, alpha).gradient(theta)
    for s in range(3):
        alone = SmoothedCost(make_problem(), X[s], c[s], alpha[s, 0]).gradient(theta[s])
        np.testing.assert_allclose(together[s], alone, rtol=1e-13)


def leader(t: int, seeds: int = 2, capacity: int = 9) -> PerturbedLeader:
    """The first t of `capacity` rounds count; the others hold what must not be read."""
    X, c = random_rounds(seeds, capacity, items=4, features=3)
    X[:, t:], c[:, t:] = np.nan, np.nan
    sigma = np.random.default_rng(5).exponential(size=(seeds, 3))
    return PerturbedLeader(make_problem(), X, c, held=t, t=t, alpha=0.7, sigma=sigma)


def full_gradient(objective: PerturbedLeader, theta: np.ndarray) -> np.ndarray:
    """Of (1/t)(Σ f̃_i − ⟨σ, ·⟩) by finite differences, seed by seed."""

    def value(s, at):
        total = 0.0
        for i in range(objective.t):
            weights = np.exp(-objective.X[s, i] @ at / objective.alpha)
            total += objective.costs[s, i] @ weights / weights.sum()
        return (total - objective.sigma[s] @ at) / objective.t

    return np.stack(
        [finite_difference(lambda at, s=s: value(s, at), row) for s, row in enumerate(theta)]
    )


@pytest.mark.parametrize("t", [1, 2, 7, 9])
def test_the_average_over_all_samples_is_the_full_gradient(t):
    objective = leader(t)
    theta = np.random.default_rng(3).normal(size=(2, 3))
    one_by_one = [
        objective.gradient(theta, np.full((2, 1), (i + u) / t))
        for i in range(t)
        for u in (0.0, 0.9)
    ]
    np.testing.assert_allclose(
        np.mean(one_by_one, axis=0), full_gradient(objective, theta), atol=1e-8
    )


def test_a_batch_is_the_average_of_its_members():
    objective = leader(7)
    theta = np.random.default_rng(3).normal(size=(2, 3))
    sample = np.random.default_rng(4).random((2, 5))
    members = [objective.gradient(theta, sample[:, [b]]) for b in range(5)]
    np.testing.assert_allclose(
        objective.gradient(theta, sample), np.mean(members, axis=0), atol=1e-14
    )


@given(t=st.integers(1, 400))
def test_the_largest_draw_points_at_the_last_round(t):
    """Uniform draws lie below 1, by 2⁻⁵³ at least; no product with t may round up to t."""
    objective = leader(t, seeds=1, capacity=t + 1)
    theta = np.full((1, 3), 0.1)
    largest = objective.gradient(theta, np.array([[np.nextafter(1.0, 0.0)]]))
    last = objective.gradient(theta, np.array([[(t - 0.5) / t]]))
    np.testing.assert_array_equal(largest, last)


def test_numpy_and_torch_agree():
    objective = leader(7)
    theta, sample = np.random.default_rng(3).normal(size=(2, 3)), np.full((2, 4), 0.6)
    on_torch = PerturbedLeader(
        objective.problem,
        torch.tensor(objective.X),
        torch.tensor(objective.costs),
        held=7,
        t=7,
        alpha=0.7,
        sigma=torch.tensor(objective.sigma),
    )
    np.testing.assert_allclose(
        on_torch.gradient(torch.tensor(theta), torch.tensor(sample)).numpy(),
        objective.gradient(theta, sample),
        rtol=1e-12,
    )
