"""The rivals from the literature: one round by hand, the loss each descends, a problem it must solve."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from support.playing import WIDE, final_regret, play
from support.problems import composed_job, finite_difference, make_problem, random_rounds

from odfl_cli.algorithms.df_ogd import DFOGD, OGD
from odfl_cli.algorithms.gradient import PFOGD, FenchelYoung, Perturbed
from odfl_cli.algorithms.hedge import Hedge, exponential_weights, pick
from odfl_cli.algorithms.policy_gradient import PolicyGradient
from odfl_cli.algorithms.restart import Restart
from odfl_cli.algorithms.rls import RLS
from odfl_cli.core.errors import UserError
from odfl_cli.problem.polytopes.budget import Budget
from odfl_cli.problem.regularizers.log_barrier import LogBarrier
from odfl_cli.problem.surrogate import SmoothedCost
from odfl_cli.runs.simulate import simulate


def softmax(values):
    weights = np.exp(values - values.max())
    return weights / weights.sum()


# ---- Fenchel–Young ----


def fenchel_young_loss(prediction, best, alpha):
    """α ln Σ exp(−ĉ/α) + ⟨ĉ, w*⟩: the conjugate of αΣ w ln w, and Ω of a vertex is 0."""
    return alpha * np.log(np.exp(-prediction / alpha).sum()) + prediction @ best


def test_fenchel_young_descends_its_loss():
    problem, alpha, eta = make_problem(radius=WIDE), 0.4, 0.2
    algorithm = FenchelYoung(problem=problem, eta=eta, alpha=alpha)
    rounds = random_rounds(1, 2, 4, 3)
    first, second = play(algorithm, rounds)
    X, costs = rounds.X[0, 1], rounds.costs[0, 1]
    best = np.eye(4)[costs.argmin()]
    gradient = finite_difference(
        lambda theta: fenchel_young_loss(X @ theta, best, alpha), first.theta[0]
    )
    np.testing.assert_allclose(second.theta[0], first.theta[0] - eta * gradient, atol=1e-9)


def test_fenchel_young_separates_what_can_be_separated():
    """The best item is that of the smallest ⟨x, θ*⟩: after a while it is always played."""
    truth = np.array([1.0, -2.0, 0.5])
    rounds = random_rounds(1, 600, 4, 3)
    rounds.costs[:] = rounds.X @ truth
    algorithm = FenchelYoung(problem=make_problem(radius=50.0), eta=0.5, alpha=0.5)
    state = play(algorithm, rounds)[-1]
    _, decision = algorithm.decide(state, rounds.X[0])
    right = decision.argmax(-1) == rounds.costs[0].argmin(-1)
    assert right.mean() > 0.97


# ---- perturbed optimiser ----


def test_perturbed_one_round_by_hand():
    """Two items with costs 1 and 0, ĉ = 0: Z = (−1, 0) picks the first, Z = (2, 1) the second."""
    problem = make_problem(items=2, features=1, radius=WIDE)
    algorithm = Perturbed(problem=problem, eta=0.1, epsilon=0.5, samples=2)
    X, costs = np.array([[[1.0], [4.0]]]), np.array([[1.0, 0.0]])
    noise = np.array([[[-1.0, 0.0], [2.0, 1.0]]])
    state = algorithm.update(algorithm.init(1, None), X, costs, {"perturbed/noise": noise})
    # above the mean by ½ and −½: (½(−1, 0) − ½(2, 1)) / (0.5 · 1) = (−3, −1)
    assert state.theta[0, 0] == pytest.approx(-0.1 * (1.0 * -3.0 + 4.0 * -1.0), rel=1e-14)


def test_perturbed_estimates_the_gradient_of_the_perturbed_cost():
    """Two items: the perturbed argmin has a closed form, c_2 + (c_1 − c_2) Φ((ĉ_2 − ĉ_1)/(ε√2))."""
    epsilon, theta = 0.7, np.array([0.3, -0.2])
    X, costs = np.array([[1.0, 0.5], [-0.4, 1.2]]), np.array([0.9, 0.1])

    def cost(theta):
        gap = (X[1] - X[0]) @ theta / (epsilon * math.sqrt(2))
        return costs[1] + (costs[0] - costs[1]) * 0.5 * (1 + math.erf(gap / math.sqrt(2)))

    algorithm = Perturbed(
        problem=make_problem(items=2, features=2, radius=WIDE), eta=1.0, epsilon=epsilon, samples=4
    )
    many = 40_000
    noise = np.random.default_rng(0).normal(size=(many, 4, 2))
    state = algorithm.init(many, None)._replace(theta=np.tile(theta, (many, 1)))
    seen = (np.tile(values, (many,) + (1,) * values.ndim) for values in (X, costs))
    steps = theta - algorithm.update(state, *seen, {"perturbed/noise": noise}).theta
    error = steps.mean(0) - finite_difference(cost, theta)
    assert (np.abs(error) < 4 * steps.std(0) / math.sqrt(many)).all()


# ---- policy gradient ----


def test_the_mean_policy_gradient_is_the_smoothed_gradient():
    """Over the items tried with their probabilities; the baseline moves no mean."""
    alpha, problem = 0.6, make_problem(radius=WIDE)
    algorithm = PolicyGradient(problem=problem, eta=1.0, alpha=alpha)
    theta, rounds = np.array([0.4, -0.7, 0.2]), random_rounds(1, 1, 4, 3)
    X, costs = rounds.X[0, 0], rounds.costs[0, 0]
    policy = softmax(-X @ theta / alpha)
    middles = np.cumsum(policy) - policy / 2  # a uniform draw that tries each item
    state = algorithm.init(4, None)._replace(theta=np.tile(theta, (4, 1)), baseline=np.full(4, 0.3))
    seen = np.tile(X, (4, 1, 1)), np.tile(costs, (4, 1))
    after = algorithm.update(state, *seen, {"policy_gradient/item": middles})
    gradient = SmoothedCost(problem, X, costs, alpha).gradient(theta)
    np.testing.assert_allclose(policy @ (theta - after.theta), gradient, rtol=1e-11)
    np.testing.assert_allclose(after.baseline, costs, rtol=1e-14)  # t = 1: the cost tried


def test_policy_gradient_one_round_by_hand():
    """Item 2 of two is tried and costs 1: its probability falls."""
    algorithm = PolicyGradient(
        problem=make_problem(items=2, features=1, radius=WIDE), eta=0.1, alpha=2.0
    )
    X, costs = np.array([[[1.0], [3.0]]]), np.array([[0.0, 1.0]])
    draws = {"policy_gradient/item": np.array([0.75])}
    state = algorithm.update(algorithm.init(1, None), X, costs, draws)
    # (1 − 0) (π − e_2)/α = (½, −½)/2
    assert state.theta[0, 0] == pytest.approx(-0.1 * (1.0 * 0.25 - 3.0 * 0.25), rel=1e-14)


def test_policy_gradient_needs_items_to_try():
    budget = Budget(dimension=4, k=2)
    problem = replace(make_problem(), polytope=budget, regularizer=LogBarrier(polytope=budget))
    with pytest.raises(UserError, match="choose polytope=simplex with regularizer=entropy"):
        PolicyGradient(problem=problem)


# ---- Hedge ----


def test_hedge_experts_are_fixed_directions_on_the_sphere():
    problem = make_problem(radius=0.7)
    few, many = (Hedge(problem=problem, experts=n).design for n in (20, 300))
    np.testing.assert_array_equal(few, many[:20])
    np.testing.assert_allclose(np.linalg.norm(many, axis=-1), 0.7, rtol=1e-12)
    assert np.abs(many.mean(0)).max() < 0.7 * 4 / math.sqrt(3 * 300)


def test_hedge_two_rounds_by_hand():
    """Every expert's cost, its weight, and the expert that the uniform draw falls on."""
    problem = make_problem(rounds=50)
    algorithm = Hedge(problem=problem, experts=5, c_eta=2.0)
    rounds = random_rounds(2, 2, 4, 3)
    uniform = np.random.default_rng(1).random((2, 2))
    states = play(algorithm, rounds, {"hedge/choice": uniform})
    eta = 2.0 * math.sqrt(8 * math.log(5) / 50)
    for s in range(2):
        losses = np.zeros(5)
        for t in range(2):
            chosen = (rounds.X[s, t] @ algorithm.design.T).argmin(0)
            losses += rounds.costs[s, t, chosen]
            ladder = np.cumsum(np.exp(-eta * losses) / np.exp(-eta * losses).sum())
            expert = int(np.searchsorted(ladder, uniform[s, t], side="right"))
            np.testing.assert_allclose(states[t].losses[s], losses, rtol=1e-14)
            np.testing.assert_array_equal(states[t].theta[s], algorithm.design[expert])


def test_hedge_keeps_its_promise():
    """Regret to the best expert below √(T ln N / 2) + a deviation, against costs of any kind."""
    T, N = 400, 30
    algorithm = Hedge(problem=make_problem(rounds=T), experts=N)
    rounds = random_rounds(6, T, 4, 3)
    uniform = np.random.default_rng(2).random((6, T))
    state, paid = algorithm.init(6, None), np.zeros(6)
    for t in range(T):
        _, decision = algorithm.decide(state, rounds.X[:, t])
        paid += (decision * rounds.costs[:, t]).sum(-1)
        state = algorithm.update(
            state, rounds.X[:, t], rounds.costs[:, t], {"hedge/choice": uniform[:, t]}
        )
    bound = math.sqrt(T * math.log(N) / 2) + math.sqrt(T * math.log(1000) / 2) + 1
    assert (paid - state.losses.min(-1) < bound).all()


def test_hedge_finds_the_one_good_expert():
    algorithm = Hedge(problem=make_problem(rounds=300), experts=10)
    rounds = random_rounds(1, 300, 4, 3)
    rounds.costs[:] = rounds.X @ algorithm.design[7]
    uniform = np.random.default_rng(3).random((1, 300))
    states = play(algorithm, rounds, {"hedge/choice": uniform})
    good = [np.array_equal(state.theta[0], algorithm.design[7]) for state in states]
    assert np.mean(good[150:]) > 0.95


@given(
    weights=st.lists(st.floats(1e-3, 1.0), min_size=1, max_size=8),
    uniform=st.floats(0, 1, exclude_max=True),
)
def test_pick_is_the_inverse_of_the_ladder(weights, uniform):
    p = np.array(weights) / np.sum(weights)
    k = int(pick(p[None], np.array([uniform]))[0])
    assert p[:k].sum() <= uniform * (1 + 1e-12)
    assert uniform < p[: k + 1].sum() * (1 + 1e-12)


def test_exponential_weights_neither_over_nor_underflow():
    weights = exponential_weights(np.array([[1e6, 1e6 + 1, 2e6]]), eta=2.0)
    e = math.exp(-2.0)
    np.testing.assert_allclose(weights, [[1 / (1 + e), e / (1 + e), 0.0]], rtol=1e-12)


# ---- ablations of DF-OGD ----


def test_ogd_one_round_by_hand():
    """∇f̃(0) = −(1/α) Xᵀ[½(c − c̄)] with α = c_α/√ln 2 and η = c_η/√ln 2."""
    problem = make_problem(items=2, features=1, radius=WIDE)
    X, costs = np.array([[[1.0], [3.0]]]), np.array([[0.2, 0.8]])
    algorithm = OGD(problem=problem, c_alpha=0.5, c_eta=0.4)
    state = algorithm.update(algorithm.init(1, None), X, costs, {"df_ogd/delta": np.ones(1)})
    root = math.sqrt(math.log(2))
    gradient = -(root / 0.5) * (1.0 * 0.5 * -0.3 + 3.0 * 0.5 * 0.3)
    assert state.theta[0, 0] == pytest.approx(-0.4 / root * gradient, rel=1e-13)


@pytest.mark.parametrize("engine", ["compiled", "array"])
def test_a_fixed_delta_replaces_every_draw(engine):
    small = (f"engine={engine}", "horizon.rounds=20", "seeds=2")
    endpoint = simulate(composed_job("algo=df_ogd_endpoint", *small)).state
    typed = simulate(composed_job("algo=df_ogd", "algo.delta=1", *small)).state
    sampled = simulate(composed_job("algo=df_ogd", *small)).state
    np.testing.assert_array_equal(endpoint.theta, typed.theta)
    assert (endpoint.theta != sampled.theta).all()
    start = simulate(composed_job("algo=df_ogd", "algo.delta=0", *small)).state
    assert (start.theta != endpoint.theta).all()
    np.testing.assert_array_equal(
        endpoint.vartheta, sampled.vartheta
    )  # δ does not reach the oracle


@pytest.mark.thorough
@pytest.mark.parametrize("algo", ["ogd", "df_ogd_endpoint", "perturbed", "policy_gradient"])
def test_what_descends_the_cost_beats_the_squared_error_with_many_items(algo):
    """K = 80, where no prediction is good but decisions can be: the paper's own ground."""
    large = ("data.items=80", "horizon.rounds=2000", "seeds=4")
    mine, _ = final_regret(algo, *large)
    theirs, _ = final_regret("pf_ogd", *large)
    assert mine.mean() < 0.9 * theirs.mean()


# ---- what is refused ----


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (RLS, {"ridge": 0.0}),
        (RLS, {"forgetting": 1.01}),
        (RLS, {"forgetting": 0.0}),
        (FenchelYoung, {"alpha": 0.0}),
        (Perturbed, {"samples": 1}),
        (Perturbed, {"epsilon": -1.0}),
        (PolicyGradient, {"eta": float("nan")}),
        (Hedge, {"experts": 0}),
        (DFOGD, {"delta": 1.5}),
        (Restart, {"base": PFOGD, "share": 0.0}),
        (Restart, {"base": PFOGD, "copies": 31}),
    ],
)
def test_wrong_settings_are_refused(kind, settings):
    with pytest.raises(ValidationError):
        kind(problem=make_problem(), **settings)
