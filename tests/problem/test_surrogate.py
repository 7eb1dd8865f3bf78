"""Gradients of the smoothed losses."""

from dataclasses import replace

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


def leader(t: int, seeds: int = 2) -> PerturbedLeader:
    """The first t of t + 2 rounds count; the others hold what must not be read."""
    X, c = random_rounds(seeds, t + 2, items=4, features=3)
    X[:, t:], c[:, t:] = np.nan, np.nan
    sigma = np.random.default_rng(5).exponential(size=(seeds, 3))
    return PerturbedLeader(make_problem(), X, c, held=t, t=t, alpha=0.7, sigma=sigma)


@pytest.mark.parametrize("t", [1, 2, 7, 70])  # 70: more rounds than are evaluated at once
def test_value_and_gradient_are_those_of_the_average_over_all_rounds(t):
    """(1/t)(Σ f̃_i − ⟨σ, ·⟩), its finite differences, and the mean over all samples of one round."""
    objective = leader(t)
    theta = np.random.default_rng(3).normal(size=(2, 3)) / 3

    def value(s, at):
        weights = np.exp(-objective.X[s, :t] @ at / objective.alpha)
        paid = (objective.costs[s, :t] * weights).sum(-1) / weights.sum(-1)
        return (paid.sum() - objective.sigma[s] @ at) / t

    values, gradient = [value(s, theta[s]) for s in range(2)], objective.gradient(theta, None)
    np.testing.assert_allclose(objective.value(theta), values, rtol=1e-12)
    slopes = [finite_difference(lambda at, s=s: value(s, at), theta[s]) for s in range(2)]
    np.testing.assert_allclose(gradient, slopes, atol=1e-8)
    samples = [np.full((2, 1), (i + u) / t) for i in range(t) for u in (0.1, 0.9)]
    one_by_one = [objective.gradient(theta, sample) for sample in samples]
    np.testing.assert_allclose(np.mean(one_by_one, axis=0), gradient, atol=1e-14)


def test_candidates_are_evaluated_one_by_one():
    objective, theta = leader(70), np.random.default_rng(1).normal(size=(2, 3)) / 3
    stacked, sample = np.stack([theta, -theta]), np.random.default_rng(2).random((2, 4))
    together = objective.value(stacked), objective.gradient(stacked, sample)
    for row, alone in enumerate(stacked):
        np.testing.assert_allclose(together[0][row], objective.value(alone), rtol=1e-14)
        np.testing.assert_allclose(together[1][row], objective.gradient(alone, sample), rtol=1e-13)


def test_a_sample_of_the_history_stands_for_more_rounds_than_it_holds():
    """The losses are averaged over the 70 held, σ is divided by the 500 they stand for."""
    objective, theta = replace(leader(70), t=500), np.full((2, 3), 0.2)
    shift = (objective.sigma * theta).sum(-1)
    losses = leader(70).value(theta) + shift / 70
    np.testing.assert_allclose(objective.value(theta), losses - shift / 500, rtol=1e-12)
    assert objective.weight == 500


def test_a_thinned_history_is_spread_over_all_of_it():
    objective = leader(70)
    thin = objective.subsample(7)
    np.testing.assert_array_equal(thin.costs, objective.costs[:, 0:70:10])
    np.testing.assert_array_equal(thin.X, objective.X[:, 0:70:10])
    assert (thin.held, thin.t) == (7, 70)
    assert objective.subsample(70) is objective


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
    objective = leader(t, seeds=1)
    theta = np.full((1, 3), 0.1)
    largest = objective.gradient(theta, np.array([[np.nextafter(1.0, 0.0)]]))
    last = objective.gradient(theta, np.array([[(t - 0.5) / t]]))
    np.testing.assert_array_equal(largest, last)


def test_numpy_and_torch_agree():
    objective = leader(7)
    theta, sample = np.random.default_rng(3).normal(size=(2, 3)), np.full((2, 4), 0.6)
    tensors = {name: torch.tensor(getattr(objective, name)) for name in ("X", "costs", "sigma")}
    on_torch = replace(objective, **tensors)
    np.testing.assert_allclose(
        on_torch.gradient(torch.tensor(theta), torch.tensor(sample)).numpy(),
        objective.gradient(theta, sample),
        rtol=1e-12,
    )
