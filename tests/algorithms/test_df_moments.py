"""DF-Moments: a round by hand, what each rule must do, and that no unit matters."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.problems import composed_job, make_problem, random_rounds

from odfl_cli.algorithms.df_moments import DFMoments
from odfl_cli.algorithms.df_moments_rows import median, ridge_inverse, signal_share
from odfl_cli.algorithms.rls import RLS
from odfl_cli.environments.base import Rounds
from odfl_cli.problem.polytopes.box import Box
from odfl_cli.problem.polytopes.budget import Budget
from odfl_cli.problem.predictors.linear import Affine
from odfl_cli.runs.simulate import simulate

WIDE = 1e9  # a radius that never binds


def play(algorithm, rounds):
    """The state before every round and after the last, and the decisions [T, S, d]."""
    state, states, decisions = algorithm.init(rounds.costs.shape[0], None), [], []
    for t in range(rounds.costs.shape[1]):
        states.append(state)
        decisions.append(algorithm.decide(state, rounds.X[:, t])[1])
        state = algorithm.update(state, rounds.X[:, t], rounds.costs[:, t], {})
    return [*states, state], np.stack(decisions)


def angle(v, theta):
    """|cos| between rows."""
    lengths = np.linalg.norm(v, axis=-1) * np.linalg.norm(theta, axis=-1)
    return np.abs((v * theta).sum(-1)) / lengths


def test_one_round_by_hand():
    """x = (2, −1) and c = (3, 1), centred ±1.5 and ±1: z = 3 > 0 and Σ = 2.25, so θ = +1/√2.25."""
    algorithm = DFMoments(problem=make_problem(items=2, features=1, radius=WIDE))
    X, costs = np.array([[[2.0], [-1.0]]]), np.array([[3.0, 1.0]])
    state = algorithm.update(algorithm.init(1, None), X, costs, {})
    assert state.first[0, 0, 0] == pytest.approx(3.0)
    assert state.gram[0, 0, 0, 0] == pytest.approx(4.5)
    assert state.theta[0, 0] == pytest.approx(2 / 3, rel=1e-14)


def test_noiseless_linear_costs_give_the_decisions_of_least_squares():
    rounds, theta = random_rounds(3, 400, 5, 4), np.array([1.0, -2.0, 0.5, 3.0])
    rounds = Rounds(rounds.X, rounds.X @ theta)
    problem = make_problem(items=5, features=4, radius=WIDE)
    ours = play(DFMoments(problem=problem), rounds)[1]
    theirs = play(RLS(problem=problem, ridge=1e-6), rounds)[1]
    differing = (ours != theirs).any(-1)
    assert differing[50:].mean() < 0.01


@pytest.mark.thorough
def test_an_even_link_is_learnt_where_least_squares_has_nothing_to_learn():
    """On the paper's data θ* is found up to its sign, and costs less than DF-OGD on every seed."""
    size = ("horizon.rounds=2000", "seeds=[1000,1001,1002]")
    ours, theirs, least_squares = (
        simulate(composed_job(*words.split(), *size))
        for words in ("algo=df_moments", "algo=df_ogd", "algo=df_moments algo.curvature=false")
    )
    theta_star = composed_job(*size).environment.theta_star((1000, 1001, 1002))
    assert (angle(ours.state.theta, theta_star) > 0.97).all()
    assert (angle(least_squares.state.theta, theta_star) < 0.97).all()
    assert (ours.table["avg_cost"][:, -1] < theirs.table["avg_cost"][:, -1]).all()


def test_the_share_of_signal():
    pairs = [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (2.0, 1.0), (1.0, 4.0)]
    assert [signal_share(noise, size) for noise, size in pairs] == [0.0, 1.0, 0.0, 0.0, 0.75]


@pytest.mark.parametrize("m", [1, 2, 7])
def test_the_inverse_with_a_ridge_is_that_of_numpy(m):
    D = np.random.default_rng(m).normal(size=(12, m))
    D[:, m // 2] = 0.0  # a column without data gets 1
    S = D.T @ D
    ridge = np.where(np.diag(S) > 0, np.diag(S) * m / 12.0, 1.0)
    np.testing.assert_allclose(
        ridge_inverse(S, 12.0), np.linalg.inv(S + np.diag(ridge)), atol=1e-12
    )


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0, 3.0]), min_size=1, max_size=9))
def test_the_median_has_the_middle_place(values):
    assert median(np.array(values)) == sorted(values)[len(values) // 2]


def test_pure_noise_is_shrunk_to_nothing():
    """Costs that know nothing of X: the second moment is believed in few rounds, the first hardly."""
    states, _ = play(DFMoments(problem=make_problem()), random_rounds(20, 200, 4, 3))
    kept = np.stack([state.kept for state in states[20:]])
    assert (kept[..., 1] > 0).mean() < 0.1
    counts = np.stack([state.counts for state in states[20:]])
    assert np.median(kept[..., 0] * counts) == pytest.approx(1.0)


def test_after_a_change_the_short_memory_takes_over():
    """θ* turns into −θ* after 200 rounds: then 32 rounds are worth more than all."""
    rounds, sign = random_rounds(4, 260, 5, 3), np.where(np.arange(260) < 200, 1.0, -1.0)
    costs = rounds.X @ np.array([1.0, 2.0, -1.0]) * sign[:, None] + 0.1 * rounds.costs
    states, decisions = play(DFMoments(problem=make_problem(items=5)), Rounds(rounds.X, costs))
    assert (states[200].omega.argmin(-1) == 2).all()
    assert (states[250].omega[:, 2] > 0.9).all()
    best = (costs == costs.min(-1, keepdims=True)).swapaxes(0, 1)
    assert (decisions[240:] == best[240:]).all(-1).mean() > 0.9


def linear_rounds(seeds=3, rounds=200, items=10):
    """Linear costs with normal noise, and what they are without it, [S, T, K]."""
    drawn = random_rounds(seeds, rounds, items, 3)
    means = drawn.X @ np.array([1.0, -1.0, 0.5])
    return Rounds(drawn.X, means + drawn.costs - drawn.costs.mean()), means


def late_mean_cost(algorithm, rounds, means):
    """The mean of the costs without noise over the second half of the rounds, [S]."""
    decisions = play(algorithm, rounds)[1].swapaxes(0, 1)
    return (decisions * means).sum(-1)[:, rounds.costs.shape[1] // 2 :].mean(-1)


def spoil_one_cost(costs, rng):
    costs[:, 60, 3] += 1e6


def spoil_a_round(costs, rng):
    costs[:, 60] *= 1e6


def add_cauchy_noise(costs, rng):
    costs += rng.standard_cauchy(costs.shape)


def add_shocks(costs, rng):
    costs += 30.0 * rng.normal(size=costs.shape[:2])[..., None]


@pytest.mark.parametrize(
    "spoil", [spoil_one_cost, spoil_a_round, add_cauchy_noise, add_shocks], ids=lambda f: f.__name__
)
def test_outlying_costs_and_common_shocks_do_little_harm(spoil):
    """Decisions are nearly as good as those learnt from clean costs; without the robust rules they are not."""
    clean, means = linear_rounds()
    costs = clean.costs.copy()
    spoil(costs, np.random.default_rng(0))
    robust = DFMoments(problem=make_problem(items=10))
    best = late_mean_cost(robust, clean, means).mean()
    ours, others = (
        late_mean_cost(algorithm, Rounds(clean.X, costs), means).mean()
        for algorithm in (robust, replace(robust, robust=False))
    )
    assert ours < 0.97 * best
    assert others - best > 4 * abs(ours - best)


def test_clipping_by_hand():
    """Seven costs of size 1 and one of 100: at N = 8 the limit is 8^¼ · 100^⅛."""
    problem = replace(make_problem(features=1), polytope=Box(dimension=4))
    X, costs = np.zeros((1, 2, 4, 1)), np.array([[[1.0, -1.0, 1.0, -1.0], [1.0, -1.0, 1.0, 100.0]]])
    X[0, 1, 3] = 1.0
    state = play(DFMoments(problem=problem), Rounds(X, costs))[0][-1]
    assert state.first[0, 0, 0] == pytest.approx(8**0.25 * 100**0.125, rel=1e-14)


@pytest.mark.parametrize("chosen", [1, 2])
def test_an_item_that_is_not_offered_does_not_exist(chosen):
    """Rounds of four items beside the same rounds with two more that cannot be played."""
    rounds = random_rounds(2, 40, 4, 3)
    X, costs = np.full((2, 40, 6, 3), np.nan), np.zeros((2, 40, 6))
    here = np.array([0, 2, 3, 5])
    X[:, :, here], costs[:, :, here] = rounds.X, rounds.costs
    four, six = (
        replace(make_problem(items=items), polytope=Budget(dimension=items, k=chosen))
        for items in (4, 6)
    )
    few = play(DFMoments(problem=four), rounds)
    many = play(DFMoments(problem=six.with_offers()), Rounds(X, costs))
    np.testing.assert_array_equal(many[1][..., here], few[1])
    for ours, theirs in zip(many[0][-1], few[0][-1], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@st.composite
def scalings(draw):
    factor = st.sampled_from([1e-3, 0.3, 1.0, 7.0, 1e3])
    columns = draw(st.lists(factor, min_size=3, max_size=3))
    return draw(factor), draw(factor) * np.array(columns), draw(st.sampled_from([0.0, 10.0]))


@given(scaling=scalings(), seed=st.integers(0, 99), budget=st.booleans())
def test_no_decision_depends_on_units(scaling, seed, budget):
    """Costs times any number and plus any number, every column times its own."""
    cost_factor, column_factors, offset = scaling
    problem, rounds = make_problem(radius=WIDE), random_rounds(2, 30, 4, 3, seed)
    if budget:
        problem = replace(problem, polytope=Budget(dimension=4, k=2))
    other = Rounds(rounds.X * column_factors, rounds.costs * cost_factor + offset)
    (_, ours), (_, theirs) = (play(DFMoments(problem=problem), data) for data in (rounds, other))
    np.testing.assert_array_equal(ours, theirs)


def test_the_radius_changes_no_decision():
    rounds = random_rounds(2, 40, 4, 3)
    (_, wide), (_, narrow) = (
        play(DFMoments(problem=make_problem(radius=radius)), rounds) for radius in (WIDE, 1e-3)
    )
    np.testing.assert_array_equal(wide, narrow)


def test_constant_columns_are_left_out_where_they_decide_nothing():
    rounds = random_rounds(2, 40, 4, 3)
    simplex = replace(make_problem(), predictor=Affine())
    box = replace(simplex, polytope=Box(dimension=4))
    shifted = Rounds(rounds.X, rounds.costs - 0.5)
    assert (play(DFMoments(problem=simplex), shifted)[0][-1].v[:, -1] == 0).all()
    assert (play(DFMoments(problem=box), shifted)[0][-1].v[:, -1] != 0).all()


@pytest.mark.parametrize("memories", ["[]", "[64]", "[512,128,32]"])
def test_any_number_of_memories(memories):
    job = composed_job("algo=df_moments", f"algo.memories={memories}", "horizon=smoke", "seeds=2")
    state = simulate(job).state
    assert state.omega.shape[1] == 1 + len(job.algorithm.memories)
    np.testing.assert_allclose(state.omega.sum(-1), 1.0, rtol=1e-12)
