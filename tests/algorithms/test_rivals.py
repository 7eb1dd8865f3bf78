"""The rivals from the literature: one round by hand, the loss each descends, a problem it must solve."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from support.commands import odfl
from support.problems import choices, composed_job, finite_difference, make_problem, random_rounds

from odfl_cli.algorithms import (
    DFOGD,
    OGD,
    PFOGD,
    RLS,
    DFMoments,
    FenchelYoung,
    Hedge,
    Perturbed,
    PolicyGradient,
    Restart,
)
from odfl_cli.algorithms.hedge import exponential_weights, pick
from odfl_cli.core.errors import UserError
from odfl_cli.problem.polytopes import Budget
from odfl_cli.problem.predictors import Linear
from odfl_cli.problem.regularizers import LogBarrier
from odfl_cli.problem.surrogate import SmoothedCost
from odfl_cli.runs.simulate import simulate

WIDE = 1e6  # a radius that never binds


def play(algorithm, rounds, draws=None):
    """The state after every round."""
    state, states = algorithm.init(rounds.costs.shape[0], None), []
    for t in range(rounds.costs.shape[1]):
        now = {name: values[:, t] for name, values in (draws or {}).items()}
        state = algorithm.update(state, rounds.X[:, t], rounds.costs[:, t], now)
        states.append(state)
    return states


def softmax(values):
    weights = np.exp(values - values.max())
    return weights / weights.sum()


# ---- RLS ----


@pytest.mark.parametrize("forgetting", [1.0, 0.7])
@pytest.mark.parametrize("radius", [0.05, WIDE])
def test_rls_is_the_ridge_regression_of_all_rounds(forgetting, radius):
    """Against numpy's least squares on the stacked, weighted rows."""
    problem = make_problem(radius=radius)
    rounds = random_rounds(2, 6, 4, 3)
    states = play(RLS(problem=problem, ridge=0.3, forgetting=forgetting), rounds)
    for t, state in enumerate(states, 1):
        weight = np.sqrt(forgetting ** np.arange(t - 1, -1, -1.0))[:, None]
        for s in range(2):
            rows = (weight[..., None] * rounds.X[s, :t]).reshape(-1, 3)
            costs = (weight * rounds.costs[s, :t]).reshape(-1)
            augmented = np.vstack([rows, math.sqrt(0.3) * np.eye(3)])
            ridge = np.linalg.lstsq(augmented, np.append(costs, np.zeros(3)), rcond=None)[0]
            expected = ridge * min(1.0, radius / np.linalg.norm(ridge))
            np.testing.assert_allclose(state.theta[s], expected, rtol=1e-10)


def test_rls_is_the_ridge_regression_of_sklearn():
    linear_model = pytest.importorskip("sklearn.linear_model", reason="comes with the bench extra")
    problem, rounds = make_problem(radius=WIDE), random_rounds(1, 40, 4, 3)
    last = play(RLS(problem=problem, ridge=0.3), rounds)[-1]
    ridge = linear_model.Ridge(alpha=0.3, fit_intercept=False)
    ridge.fit(rounds.X.reshape(-1, 3), rounds.costs.ravel())
    np.testing.assert_allclose(last.theta[0], ridge.coef_, rtol=1e-8)


def test_rls_one_round_by_hand():
    """One item pays 3 at x = 2, the other 1 at x = −1, λ = 1: θ = (2·3 − 1·1) / (1 + 4 + 1)."""
    problem = make_problem(items=2, features=1, radius=WIDE)
    X, costs = np.array([[[2.0], [-1.0]]]), np.array([[3.0, 1.0]])
    algorithm = RLS(problem=problem, ridge=1.0)
    state = algorithm.update(algorithm.init(1, None), X, costs, {})
    assert state.theta[0, 0] == pytest.approx(5 / 6, rel=1e-14)
    prediction, decision = algorithm.decide(state, X)
    np.testing.assert_allclose(prediction, [[10 / 6, -5 / 6]], rtol=1e-14)
    np.testing.assert_array_equal(decision, [[0, 1]])


def test_rls_forgets_without_blowing_up():
    """A feature that is never seen keeps its weight at 0, because λ does not fade."""
    rounds = random_rounds(1, 400, 4, 3)
    rounds.X[..., 2] = 0.0
    state = play(RLS(problem=make_problem(), forgetting=0.5), rounds)[-1]
    assert state.theta[0, 2] == 0
    assert np.abs(state.gram).max() < 100


def test_every_memory_is_the_estimate_that_forgets_as_much():
    """Beside each other as alone; θ is their weighted sum."""
    problem, rounds = make_problem(radius=WIDE), random_rounds(2, 12, 4, 3)
    together = play(RLS(problem=problem, memories=(5, 2)), rounds)
    for j, forgetting in enumerate([1.0, 0.8, 0.5]):
        alone = play(RLS(problem=problem, forgetting=forgetting), rounds)
        for one, other in zip(together, alone, strict=True):
            np.testing.assert_allclose(one.thetas[:, j], other.theta, rtol=1e-10)
    for state in together:
        expected = (state.omega[..., None] * state.thetas).sum(1)
        np.testing.assert_allclose(state.theta, expected, rtol=1e-10)


def test_memories_are_weighed_by_how_well_they_predicted():
    """Three rounds by hand: exp(−½ ‖c − Xθ_j‖²/σ²), then a share of 1/t spread evenly."""
    problem, rounds = make_problem(radius=WIDE), random_rounds(1, 3, 4, 3)
    states = play(RLS(problem=problem, memories=(2,)), rounds)
    np.testing.assert_allclose(states[0].omega, 0.5, rtol=1e-14)
    omega, squares = np.full(2, 0.5), (rounds.costs[0, 0] ** 2).mean()
    for t in (2, 3):
        predictions = states[t - 2].thetas[0] @ rounds.X[0, t - 1].T
        missed = rounds.costs[0, t - 1] - predictions
        squares += ((omega @ missed) ** 2).mean()
        weight = omega * np.exp(-0.5 * (missed**2).sum(-1) / (squares / t))
        omega = (1 - 1 / t) * weight / weight.sum() + 1 / (2 * t)
        np.testing.assert_allclose(states[t - 1].omega[0], omega, rtol=1e-12)


LEARNABLE = ("predictor=quadratic", "data.items=20", "data.features=4", "seeds=[1000,1001,1002]")


@pytest.mark.parametrize(("drift", "gain"), [("paper", (-0.004, 0.01)), ("switching", (0.02, 1.0))])
def test_forgetting_that_is_chosen_online(drift, gain):
    """Level with plain RLS where nothing changes; pays less where θ* changes every 500 rounds."""
    world = (*LEARNABLE, f"data.drift={drift}", "data.drift_period=500", "horizon.rounds=2000")
    plain, adaptive = (
        simulate(composed_job(f"algo={algo}", *world)).table["avg_cost"][:, -1].mean()
        for algo in ("rls", "rls_adaptive")
    )
    assert gain[0] < plain - adaptive < gain[1]


def test_quadratic_features_pay_less_than_the_best_linear_decision():
    """On the paper's data: least squares from the first round, against θ* known throughout."""
    world = ("horizon.rounds=2000", "seeds=[1000,1001,1002,1003]")
    quadratic = simulate(composed_job("algo=rls", "predictor=quadratic", *world))
    linear = simulate(composed_job("algo=clairvoyant", *world))
    difference = linear.table["avg_cost"][:, -1] - quadratic.table["avg_cost"][:, -1]
    assert (difference > 0.02).all()


class Wavy(Linear):
    """Not linear in θ."""

    def predict(self, theta, X):
        return np.sin(super().predict(theta, X))


class Shifted(Linear):
    """Affine in θ, which is not linear either."""

    def predict(self, theta, X):
        return super().predict(theta, X) + 1.0


@pytest.mark.parametrize("predictor", [Wavy(), Shifted()])
@pytest.mark.parametrize("kind", [RLS, DFMoments])
def test_predictors_that_are_not_linear_are_refused(kind, predictor):
    """Although they inherit a design."""
    with pytest.raises(UserError, match=f"linear in θ, and {type(predictor).__name__} is not"):
        kind(problem=replace(make_problem(), predictor=predictor))


REALISABLE = (
    "data.gamma=0",
    "data.drift_weight=0",
    "data.clip=false",
    "data.theta_star_norm=0.9",
    "horizon.rounds=300",
    "seeds=12",
)


@cache
def final_regret(algo, *overrides):
    """Regret above the round's best per seed, and the mean squared error."""
    table = simulate(composed_job(f"algo={algo}", *overrides)).table
    return table["regret"][:, -1], table["avg_mse"][:, -1]


LEAST_SQUARES = {"rls", "rls_adaptive", "rls_forgetting", "df_moments", "guard", "vote"}
"""These play least squares too where the linear model is right, or follow whoever does."""
RIVALS = sorted(set(choices("algo")) - LEAST_SQUARES - {"clairvoyant"})


@pytest.mark.parametrize("rival", RIVALS)
def test_rls_beats_everyone_where_the_linear_model_is_right(rival):
    """In cost on average over the seeds, in squared error for every seed; all see the same data."""
    regret, mse = final_regret("rls", *REALISABLE)
    theirs, their_mse = final_regret(rival, *REALISABLE)
    assert regret.mean() < theirs.mean()
    assert (mse < their_mse).all()


def test_rls_nearly_knows_the_truth_where_the_linear_model_is_right():
    """Of what there is to gain over playing uniformly, nine tenths in 300 rounds."""
    regret, floor, idle = (
        final_regret(algo, *REALISABLE)[0].mean() for algo in ("rls", "clairvoyant", "uniform")
    )
    assert floor < regret < floor + 0.1 * (idle - floor)


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


def test_fenchel_young_first_round_by_hand():
    """At θ = 0 the softmax is uniform: the best item's features go down, the others' up."""
    X, costs = np.array([[[1.0], [3.0]]]), np.array([[0.2, 0.7]])
    algorithm = FenchelYoung(problem=make_problem(items=2, features=1), eta=0.1, alpha=2.0)
    state = algorithm.update(algorithm.init(1, None), X, costs, {})
    assert state.theta[0, 0] == pytest.approx(-0.1 * (1.0 * 0.5 - 3.0 * 0.5), rel=1e-14)


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


def test_ogd_is_df_ogd_at_its_own_point_with_a_path_of_no_length():
    """An oracle that hardly moves leaves P = 0; δ = 1 takes the gradient at θ_t."""
    rounds = random_rounds(2, 8, 4, 3)
    problem = make_problem(lr=1e-300)
    endpoint = play(
        DFOGD(problem=problem, c_alpha=0.5, c_eta=0.4, delta=1.0),
        rounds,
        {"df_ogd/delta": np.ones((2, 8))},
    )
    plain = play(OGD(problem=problem, c_alpha=0.5, c_eta=0.4), rounds)
    for one, other in zip(endpoint, plain, strict=True):
        np.testing.assert_allclose(one.theta, other.theta, rtol=1e-11, atol=1e-15)
    assert np.linalg.norm(plain[-1].theta) > 0.1


def test_ogd_one_round_by_hand():
    """∇f̃(0) = −(1/α) Xᵀ[½(c − c̄)] with α = c_α/√ln 2 and η = c_η/√ln 2."""
    problem = make_problem(items=2, features=1, radius=WIDE)
    X, costs = np.array([[[1.0], [3.0]]]), np.array([[0.2, 0.8]])
    algorithm = OGD(problem=problem, c_alpha=0.5, c_eta=0.4)
    state = algorithm.update(algorithm.init(1, None), X, costs, {})
    root = math.sqrt(math.log(2))
    gradient = -(root / 0.5) * (1.0 * 0.5 * -0.3 + 3.0 * 0.5 * 0.3)
    assert state.theta[0, 0] == pytest.approx(-0.4 / root * gradient, rel=1e-13)


@pytest.mark.parametrize("engine", ["compiled", "torch"])
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


@pytest.mark.parametrize("algo", ["ogd", "df_ogd_endpoint", "perturbed", "policy_gradient"])
def test_what_descends_the_cost_beats_the_squared_error_with_many_items(algo):
    """K = 80, where no prediction is good but decisions can be: the paper's own ground."""
    large = ("data.items=80", "horizon.rounds=2000", "seeds=4")
    mine, _ = final_regret(algo, *large)
    theirs, _ = final_regret("pf_ogd", *large)
    assert mine.mean() < 0.9 * theirs.mean()


# ---- restarts ----


def restarting(base, **settings):
    return Restart(problem=make_problem(rounds=64), base=base, **settings)


def test_copies_are_renewed_on_their_own_clocks():
    algorithm = restarting(DFOGD, shortest=3, copies=4)
    rounds = random_rounds(2, 14, 4, 3)
    draws = {"restart/choice": np.full((2, 14), 0.5), "restart/df_ogd/delta": np.full((2, 14), 0.5)}
    states = play(algorithm, rounds, draws)
    ages = [[copy.t for copy in state.states] for state in states]
    assert ages == [[t % 3, t % 6, t % 12, t] for t in range(1, 15)]
    for state in states:
        assert (np.stack([c.theta for c in state.states]) == state.theta).all(-1).any(0).all()


def test_a_renewed_copy_keeps_theta_and_forgets_the_rest():
    algorithm = restarting(DFOGD, shortest=4, copies=2)
    rounds = random_rounds(2, 4, 4, 3)
    draws = {"restart/choice": np.full((2, 4), 0.9), "restart/df_ogd/delta": np.full((2, 4), 0.5)}
    state = play(algorithm, rounds, draws)[-1]
    young, old = state.states
    np.testing.assert_array_equal(young.theta, state.theta)
    np.testing.assert_array_equal(young.theta, old.theta)  # the last copy was drawn
    assert (young.path_length == 0).all()
    assert (old.path_length > 0).all()


def test_one_copy_is_the_algorithm_itself():
    rounds = random_rounds(2, 9, 4, 3)
    mine = play(
        restarting(PFOGD, copies=1, shortest=2), rounds, {"restart/choice": np.zeros((2, 9))}
    )
    base = play(PFOGD(problem=make_problem(rounds=64)), rounds)
    for one, other in zip(mine, base, strict=True):
        np.testing.assert_array_equal(one.theta, other.theta)


def test_weights_by_hand():
    """v_k ∝ v_k exp(−η loss_k), then 10 % are dealt out evenly."""
    algorithm = restarting(PFOGD, copies=2, eta=0.5, share=0.1)
    rounds = random_rounds(1, 1, 4, 3)
    thetas = np.array([[0.3, -0.5, 0.1], [-0.2, 0.6, 0.4]])
    state = algorithm.init(1, None)
    copies = tuple(
        copy._replace(theta=theta[None]) for copy, theta in zip(state.states, thetas, strict=True)
    )
    state = state._replace(states=copies, weights=np.array([[0.7, 0.3]]))
    now = algorithm.update(
        state, rounds.X[:, 0], rounds.costs[:, 0], {"restart/choice": np.zeros(1)}
    )
    losses = rounds.costs[0, 0, (rounds.X[0, 0] @ thetas.T).argmin(0)]
    assert losses[0] != losses[1]
    raw = np.array([0.7, 0.3]) * np.exp(-0.5 * losses)
    np.testing.assert_allclose(now.weights[0], 0.9 * raw / raw.sum() + 0.05, rtol=1e-13)


def test_a_history_is_not_shared_between_copies():
    """DF-FTPL writes into its buffer; with one copy renewed the others' rounds stay."""
    job = composed_job(
        "algo=restart", "algo@algo.base=df_ftpl", "algo.shortest=4", "horizon.rounds=9"
    )
    state = simulate(job).state
    buffers = [copy.X for copy in state.states]
    assert all(not np.shares_memory(buffers[0], other) for other in buffers[1:])
    everything = job.environment.rounds(job.seeds, 0, 9).X
    np.testing.assert_array_equal(buffers[-1][:, :9], everything)
    np.testing.assert_array_equal(buffers[0][:, :1], everything[:, 8:])  # renewed after round 8


def turning_world(T=1200, turn=600):
    """Costs Xθ* + noise, and θ* turns round in the middle."""
    rng = np.random.default_rng(5)
    rounds = random_rounds(6, T, 4, 3, seed=5)
    sign = np.where(np.arange(T) < turn, 1.0, -1.0)[:, None]
    rounds.costs[:] = sign * (rounds.X @ np.array([0.6, -0.5, 0.4])) + rng.normal(size=(6, T, 4))
    return rounds


def test_restarts_recover_from_a_turn_where_the_base_does_not():
    rounds, last = turning_world(), slice(900, 1200)
    base = RLS(problem=make_problem(rounds=1200))
    wrapped = Restart(problem=make_problem(rounds=1200), base=RLS, shortest=50, copies=4, eta=0.5)
    choice = {"restart/choice": np.random.default_rng(6).random((6, 1200))}

    def late_cost(algorithm, draws):
        states = play(algorithm, rounds, draws)
        theta = np.stack([state.theta for state in states], axis=1)[:, last.start - 1 : -1]
        chosen = (rounds.X[:, last] * theta[:, :, None]).sum(-1).argmin(-1)
        return np.take_along_axis(rounds.costs[:, last], chosen[..., None], -1).mean()

    assert late_cost(wrapped, choice) < late_cost(base, None) - 0.3
    forgetful = RLS(problem=make_problem(rounds=1200), forgetting=0.98)
    assert late_cost(forgetful, None) < late_cost(base, None) - 0.3


SWITCHING = ("data.items=80", "data.drift=switching", "horizon=paper", "seeds=4")


@pytest.mark.slow
@pytest.mark.parametrize("adaptive", ["df_ogd", "restart"])
@pytest.mark.parametrize("rigid", ["ogd", "df_ftpl", "rls_forgetting", "spo"])
def test_in_a_switching_world_the_adaptive_win(adaptive, rigid):
    """Every seed: the oracle's path raises DF-OGD's rates after a switch, restarts raise OGD's."""
    regret, theirs = (final_regret(algo, *SWITCHING)[0] for algo in (adaptive, rigid))
    assert (regret < theirs).all()


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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["algo.base.c_eta=-1"], ["algo.base.c_eta=-1", "greater than 0"]),
        (["algo.base.c_etta=1"], ["algo.base.c_etta", "did you mean algo.base.c_eta?"]),
        (["algo@algo.base=uniform"], ["algo.base: uniform learns nothing"]),
        (["algo@algo.base=guard"], ["algo.base: guard decides by more than θ"]),
        (["algo@algo.base=nope"], ["nope: no such choice", "rls"]),
        (["algo.shortest=0"], ["algo.shortest=0", "greater than or equal to 1"]),
    ],
    ids=" ".join,
)
def test_a_wrong_base_is_refused_in_one_line(arguments, words, tmp_path):
    done = odfl("run", "algo=restart", "horizon=smoke", *arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert all(word in line for word in words), line
    assert list(tmp_path.iterdir()) == []
