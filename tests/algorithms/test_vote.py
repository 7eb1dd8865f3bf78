"""The vote: its potential, its certificate for any costs, and what its experts do in it."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save
from support.problems import block_of, choices, composed, composed_job, make_problem
from support.samples import examples, marked

from odfl_cli.algorithms.base import Algorithm, State
from odfl_cli.algorithms.gradient import PFOGD
from odfl_cli.algorithms.mixture import take_problem_settings
from odfl_cli.algorithms.vote import Vote, log_weight
from odfl_cli.config.directory import variants
from odfl_cli.core.arrays import dot
from odfl_cli.core.errors import RoundError, UserError
from odfl_cli.environments.base import Rounds
from odfl_cli.problem.predictors.mlp import MLP
from odfl_cli.runs.simulate import simulate

ITEMS = 3


class Fixed(Algorithm):
    """Plays the same item in every round: X is the identity and θ is −1 there."""

    item = 0

    def init(self, seeds, truth):
        return State(0, np.tile(-np.eye(ITEMS)[self.item], (seeds, 1)))


class Second(Fixed):
    item = 1


class Third(Fixed):
    item = 2


FIXED = {"first": Fixed, "second": Second, "third": Third}


def vote_of(rounds=20, **changes):
    """The three items as experts."""
    problem = make_problem(items=ITEMS, features=ITEMS, rounds=rounds, radius=2.0)
    return Vote(problem=problem, **{"experts": tuple(FIXED), "settings": FIXED, **changes})


def play_rounds(vote, rounds):
    """The costs of the vote [T], and its state after every round."""
    state, paid, states = vote.init(1, None), [], []
    for t in range(rounds.costs.shape[1]):
        X, costs = rounds.X[:, t], rounds.costs[:, t]
        paid.append(dot(vote.decide(state, X)[1], costs)[0])
        state = vote.update(state, X, costs, {})
        states.append(state)
    return np.array(paid), states


def of_items(costs):
    """Rounds in which expert k pays costs[t, k]."""
    costs = np.asarray(costs, dtype=float)
    return Rounds(np.tile(np.eye(ITEMS), (1, len(costs), 1, 1)), costs[None])


def assert_certified(vote, costs):
    """The certificate is above the regret to every expert after every round."""
    paid, states = play_rounds(vote, of_items(costs))
    regret = (np.cumsum(paid)[:, None] - np.cumsum(costs, axis=0)).max(-1)
    certified = np.array([state.certificate[0] * state.t for state in states])
    assert (regret <= certified + 1e-9 * (1.0 + np.abs(costs).sum())).all()
    return paid, states


def potential(R, C):
    return np.exp(np.clip(R, 0, None) ** 2 / (3 * np.maximum(C, 1e-300)))


@given(C=st.floats(0, 300), where=st.floats(-1, 1), r=st.floats(-1, 1))
def test_the_inequality_behind_the_certificate(C, where, r):
    """Φ(R + r, C + |r|) ≤ Φ(R, C) + w r + 3|r|/(2(C + 1)) wherever |R| ≤ C."""
    R = where * C
    bound = potential(R, C) + np.exp(log_weight(R * np.ones(1), C * np.ones(1)))[0] * r
    after = potential(R + r, C + abs(r))
    assert after <= (bound + 1.5 * abs(r) / (C + 1)) * (1 + 1e-9)


def test_three_rounds_by_hand():
    """Round 1 fixes the scale and counts nothing; round 2 counts r = ℓ̄ − ℓ, which weighs round 3."""
    costs = np.array([[0, 1, 1], [0, 1, 1], [0, 1, 1]], dtype=float)
    paid, states = play_rounds(vote_of(), of_items(costs))
    np.testing.assert_allclose(paid[:2], 2 / 3, rtol=1e-14)
    r = 2 / 3 - costs[1]
    np.testing.assert_allclose(states[1].gains[0, 0], r, rtol=1e-14)
    Phi = lambda step: potential(r + step, np.abs(r) + 1)  # noqa: E731
    w = Phi(1.0) - Phi(-1.0)
    np.testing.assert_allclose(states[1].weights[0], w / w.sum(), rtol=1e-12)
    assert paid[2] == pytest.approx(w[1:].sum() / w.sum())
    B = 1 + 1.5 * np.abs(r).sum() / 3
    bounds = np.sqrt(3 * np.abs(r) * np.log(3 * B))
    assert states[1].certificate[0] * 2 == pytest.approx(
        (costs[:2].sum(0) + bounds).min() - 0.0 + 1.0
    )


def test_rounds_in_which_all_pay_alike_count_nothing():
    """The rounding of Σ p_k ℓ does not count either: the certificate would show its root."""
    _, states = play_rounds(
        vote_of(), of_items([[0, 1, 1], [0, 1, 1], *[[level] * 3 for level in (0.1, 0.3, 0.7)]])
    )
    for state in states[2:]:
        np.testing.assert_array_equal(state.sizes[0, 0], states[1].sizes[0, 0])
        np.testing.assert_array_equal(state.gains[0, 0], states[1].gains[0, 0])


number = st.floats(-1e3, 1e3) | st.sampled_from([0.0, 1.0, 1e-6, 1e6])


@examples(4)
@given(
    costs=st.lists(st.tuples(*[number] * ITEMS), min_size=1, max_size=60),
    play=st.sampled_from(["mixed", "heaviest"]),
    shortest=st.integers(1, 40),
)
def test_the_certificate_holds_for_any_costs(costs, play, shortest):
    vote = vote_of(rounds=len(costs), play=play, shortest=shortest)
    assert_certified(vote, np.array(costs))


@pytest.mark.parametrize("play", ["mixed", "heaviest"])
@pytest.mark.parametrize("growth", [1.0, 1.02])
def test_the_certificate_holds_against_an_adversary_that_sees_the_weights(play, growth):
    """The heaviest expert pays 1 and the others 0, in units that may grow; 400 rounds."""
    vote = vote_of(rounds=400, play=play, shortest=16)
    state, total, paid = vote.init(1, None), np.zeros(ITEMS), 0.0
    for t in range(400):
        costs = growth**t * (np.arange(ITEMS) == state.weights[0].argmax())[None]
        X = np.eye(ITEMS)[None]
        paid += dot(vote.decide(state, X)[1], costs)[0]
        total += costs[0]
        state = vote.update(state, X, costs, {})
        assert paid - total.min() <= state.certificate[0] * state.t * (1 + 1e-12)


@given(factor=st.sampled_from([1e-3, 1e3]), shift=st.floats(-5, 5))
def test_units_and_origin_of_the_costs_change_no_weight(factor, shift):
    costs = np.random.default_rng(0).random((40, ITEMS))
    _, states = play_rounds(vote_of(rounds=40, shortest=8), of_items(costs))
    _, others = play_rounds(vote_of(rounds=40, shortest=8), of_items(factor * (costs + shift)))
    for one, other in zip(states, others, strict=True):
        np.testing.assert_allclose(one.weights, other.weights, atol=1e-9)
        np.testing.assert_allclose(factor * one.certificate, other.certificate, rtol=1e-6)


def test_a_change_of_the_best_expert_is_followed_sooner_with_sleeping_copies():
    """Item 1 is free for 300 rounds, then item 2; without copies the first lead must be paid back."""
    costs = np.ones((500, ITEMS))
    costs[:300, 0] = costs[300:, 1] = 0.0
    with_copies, _ = assert_certified(vote_of(rounds=500, shortest=16), costs)
    without, _ = assert_certified(vote_of(rounds=500, shortest=500), costs)
    assert with_copies[300:].sum() < 0.5 * without[300:].sum()


@pytest.mark.thorough
def test_experts_with_predictors_of_their_own_learn_as_they_do_alone():
    """Each has its draws: two DF-OGD with parameters of different lengths use the same names."""
    experts = ["df_ogd", "df_ftpl", "df_ogd/quadratic", "rls/quadratic"]
    overrides = ("oracle.lr=0.1", "horizon.rounds=10", "seeds=2")
    vote = simulate(composed_job("algo=vote", f"algo.experts=[{','.join(experts)}]", *overrides))
    for k, expert in enumerate(experts):
        algo, _, predictor = expert.partition("/")
        word = f"predictor={predictor or 'linear'}"
        alone = simulate(composed_job(f"algo={algo}", word, *overrides))
        np.testing.assert_array_equal(vote.state.states[k].theta, alone.state.theta)
        np.testing.assert_allclose(vote.state.paid[:, k] / 10, alone.table["avg_cost"][:, -1])
    assert vote.state.theta.shape == (2, 10)


def test_heaviest_plays_one_experts_decision():
    job = composed_job("algo=vote", "algo.play=heaviest", "horizon.rounds=30", "seeds=2")
    state = job.algorithm.init(2, None)
    rounds, draws = block_of(job, 0, 30)
    for t in range(30):
        decision = job.algorithm.decide(state, rounds.X[:, t])[1]
        assert ((decision == 0) | (decision == 1)).all()
        now = {name: values[:, t] for name, values in draws.items()}
        state = job.algorithm.update(state, rounds.X[:, t], rounds.costs[:, t], now)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["algo.experts=[rls]"], r"algo\.experts=\['rls'\]: a vote needs two experts"),
        (["algo.experts=[]"], r"a vote needs two experts"),
        (["algo.experts=[rls,rls]"], r"a list of different names"),
        (["algo.settings=null"], r"algo\.settings=None: parts by name"),
        (["algo.experts=rls"], r"a list of different names"),
        (["algo.experts=[rls,nobody]"], r"no nobody in algo\.settings; there are always, clair"),
        (["algo.settings.rls.ridge=-1"], r"algo\.settings\.rls\.ridge=-1"),
        (["algo.settings.rls=5"], r"algo\.settings\.rls=5: choose a file of the group algo"),
        (["algo.experts=[rls,rls/cubic]"], r"no cubic in algo\.predictors; there are affine, lin"),
        (["algo.experts=[rls,rls/]"], r"no  in algo\.predictors; there are affine"),
        (["algo.experts=[rls,rls/mlp]"], r"algo\.experts: rls/mlp: algo=rls needs"),
        (["algo.experts=[rls,3]"], r"no 3 in algo\.settings; there are always"),
        (["algo.experts=[spo,spo/mlp]", "algo.predictors.mlp.width=0"], r"predictors\.mlp\.width=0"),
        (["algo.experts=[spo,spo/mlp]", "algo.predictors.mlp=0"],
         r"algo\.predictors\.mlp=0: choose a file of the group predictor"),
        (["algo.play=both"], r"algo\.play=both"),
        *marked([(["predictor=mlp"], r"algo=rls needs a predictor that is linear in θ"),
                 (["+algo.settings.rls.predictor=affine"], r"algo\.settings\.rls\.predictor")],
                lambda _: False),
    ],
)  # fmt: skip
def test_one_line_refusals(overrides, message):
    with pytest.raises(UserError, match=message) as refusal:
        composed_job("algo=vote", *overrides)
    assert "\n" not in str(refusal.value)


def test_weights_of_an_experts_predictor_that_are_not_numbers_are_refused(tmp_path):
    network = MLP(width=2).network(10)
    torch.nn.init.constant_(network[2].bias, float("nan"))
    (tmp_path / "nan.safetensors").write_bytes(save(network.state_dict()))
    more = "algo.experts=[spo,spo/mlp]", "algo.predictors.mlp.width=2"
    refused = r"^algo\.predictors\.mlp: predictor\.weights=.*: 2\.bias holds numbers that are not"
    with pytest.raises(UserError, match=refused):
        composed_job(
            "algo=vote", *more, f"algo.predictors.mlp.weights={tmp_path / 'nan.safetensors'}"
        )


def test_the_predictor_of_an_expert_has_its_own_radius():
    more = "algo.experts=[spo,spo/mlp]", "algo.predictors.mlp.radius=7", "theta_radius=2"
    experts = composed_job("algo=vote", *more).algorithm.learners
    assert [expert.problem.theta_set.radius for expert in experts] == [2, 7]


def test_every_algorithm_and_every_predictor_that_needs_no_key_can_be_an_expert():
    node = composed("algo=vote").algo
    assert set(node.settings) == {*choices("algo"), *variants()} - {"vote", "pool"}
    assert set(node.predictors) == set(choices("predictor")) - {"torch"}  # which module?


@pytest.mark.parametrize("engine", ["auto", "array"])
def test_the_round_in_which_an_expert_pays_no_number_is_named(engine):
    experts = "algo.experts=[spo,rls/quadratic]"
    job = composed_job("algo=vote", experts, "seeds=2", f"engine={engine}")
    rounds, draws = block_of(job, 0, 4)
    rounds.costs[1, 2] = np.inf
    told = r"expert spo pays (nan|inf), which cannot be weighed"
    with pytest.raises(RoundError, match=told) as failure:
        job.engine.advance(job.algorithm, job.algorithm.init(2, None), rounds, draws)
    assert (failure.value.round_index, failure.value.seed_index) == (2, 1)


QUADRATIC = ("regularizer=quadratic",)


@pytest.mark.parametrize(
    ("outer", "algo", "world"),
    [
        (("algo=vote",), "df_ftpl", ()),
        pytest.param(("algo=vote",), "df_ogd", QUADRATIC, marks=pytest.mark.thorough),
        (("algo=guard",), "df_ogd", QUADRATIC),
        (("algo=guard", "algo@algo.base=df_ftpl"), "df_ftpl", ()),
        (("algo=restart", "algo@algo.base=df_ogd"), "df_ogd", QUADRATIC),
    ],
    ids=str,
)
def test_learners_inside_others_have_the_constants_that_they_have_alone(outer, algo, world):
    """conf/tuned reaches them: the algorithm's settings, its oracle's and what it learns from."""
    outside = composed_job(*outer, *world).algorithm
    inside = outside.learners or (outside.learner,)
    (one,) = (learner for learner in inside if learner.name == algo)
    alone = composed_job(f"algo={algo}", *world).algorithm
    assert replace(one, problem=alone.problem) == alone
    assert (one.problem.oracle, one.problem.target) == (alone.problem.oracle, alone.problem.target)


def test_a_typed_value_replaces_a_tuned_one_inside_others():
    job = composed_job("algo=guard", "algo.rivals.df_ogd.c_alpha=7", *QUADRATIC)
    assert [one.c_alpha for one in job.algorithm.learners if one.name == "df_ogd"] == [7.0]


@pytest.mark.thorough
def test_what_an_expert_learns_from_is_tuned_as_well():
    assert composed("algo=vote", "data=flights_airport").algo.settings.spo.target == "rank"
    problem = make_problem()
    part, problem = take_problem_settings(
        partial(PFOGD, eta=0.5, target="rank", oracle={"lr": 0.2}), problem
    )
    assert (part.keywords, problem.target, problem.oracle.lr) == ({"eta": 0.5}, "rank", 0.2)


@pytest.mark.parametrize("metrics", marked(["basic", "regret"], "basic".__eq__))
def test_the_regret_to_the_best_expert_is_known_and_certified(metrics):
    few = ("algo.experts=[rls,spo]", "horizon.rounds=40", "seeds=2")
    job = composed_job("algo=vote", *few, f"metrics={metrics}")
    assert "certificate" in job.metrics.columns(job.environment, job.algorithm)
    result = simulate(job)
    best = result.state.paid.min(-1) / 40
    regret = result.table["expert_regret"][:, -1]
    np.testing.assert_allclose(regret, result.table["avg_cost"][:, -1] - best, atol=1e-12)
    assert (regret <= result.table["certificate"][:, -1]).all()


@pytest.mark.parametrize(
    ("learner", "grid"),
    [
        ("df_ogd", ["algo.c_eta=0.01", "algo.c_eta=1"]),
        pytest.param("spo", ["algo.eta=0.001", "algo.eta=0.1"], marks=pytest.mark.thorough),
    ],
)
def test_a_pool_is_a_vote_of_copies_with_a_grid_of_step_sizes(learner, grid):
    """Each copy pays what it pays alone, and the regret to the best one is certified."""
    few = ("theta_radius=auto", "horizon.rounds=40", "seeds=2")
    pool = ("algo=pool", f"algo.learner={learner}", "algo.factors=[0.1,10]")
    result = simulate(composed_job(*pool, *few))
    for k, step in enumerate(grid):
        alone = simulate(composed_job(f"algo={learner}", "algo.step=scheduled", step, *few))
        paid = 40 * alone.table["avg_cost"][:, -1]
        np.testing.assert_allclose(result.state.paid[:, k], paid, rtol=1e-9)
    assert (result.table["expert_regret"] <= result.table["certificate"] + 1e-12).all()
    with pytest.raises(UserError, match=r"algo\.learner=rls: it has no step size"):
        composed_job("algo=pool", "algo.learner=rls")
