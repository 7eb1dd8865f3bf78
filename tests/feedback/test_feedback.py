"""What is not seen moves no number; what is seen late is used late; estimates are unbiased."""

import numpy as np
import pytest
from support.learning import assert_same_state
from support.problems import block_of, composed_job

from odfl_cli import Learner, UserError
from odfl_cli.algorithms.explore import Weighted
from odfl_cli.algorithms.observed import Observed
from odfl_cli.environments.base import Rounds
from odfl_cli.feedback.base import Feedback, Seen
from odfl_cli.runs.simulate import simulate

PARTIAL = ("rls", "thompson", "ucb", "epsilon_greedy", "explore_then_commit", "weighted")
SIZES = ("horizon.rounds=30", "seeds=3")
BUDGET = ("polytope=budget", "regularizer=log_barrier", "data.items=6")


def advanced(job, rounds):
    draws = block_of(job, 0, rounds.costs.shape[1])[1]
    state = job.algorithm.init(len(job.seeds), None)
    return job.engine.advance(job.algorithm, state, rounds, draws)


@pytest.mark.parametrize("algo", [*PARTIAL, "policy_gradient"])
@pytest.mark.parametrize("kind", ["semi_bandit", "bandit"])
def test_costs_that_are_not_seen_move_no_number(algo: str, kind: str) -> None:
    job = composed_job(f"algo={algo}", f"feedback={kind}", *SIZES)
    rounds, _ = block_of(job, 0, 30)
    state, trace = advanced(job, rounds)
    poisoned = np.where(trace.decision != 0, rounds.costs, 1e6)
    other, again = advanced(job, Rounds(rounds.X, poisoned))
    np.testing.assert_array_equal(again.decision, trace.decision)
    np.testing.assert_array_equal(again.cost, trace.cost)
    assert_same_state(other.learner, state.learner)


def test_of_several_items_the_sum_alone_is_seen_with_bandit_feedback() -> None:
    job = composed_job("algo=thompson", "feedback=bandit", *BUDGET, *SIZES)
    rounds, _ = block_of(job, 0, 30)
    state, trace = advanced(job, rounds)
    away = np.random.default_rng(0).normal(size=rounds.costs.shape)
    w = trace.decision
    away -= w * ((away * w).sum(-1) / (w * w).sum(-1))[..., None]  # ⟨away, w⟩ = 0
    other, _ = advanced(job, Rounds(rounds.X, rounds.costs + away))
    np.testing.assert_allclose(other.theta, state.theta, rtol=1e-9)


@pytest.mark.parametrize("algo", ["df_ogd", "rls", "vote"])
def test_nothing_is_used_before_it_arrives(algo: str) -> None:
    delay = 4
    job = composed_job(f"algo={algo}", f"feedback.delay={delay}", *SIZES)
    rounds, _ = block_of(job, 0, 30)
    state, trace = advanced(job, rounds)
    later = rounds.costs.copy()
    later[:, 30 - delay :] = 1e6
    other, again = advanced(job, Rounds(rounds.X, later))
    assert_same_state(other.learner, state.learner)
    np.testing.assert_array_equal(again.decision, trace.decision)
    np.testing.assert_array_equal(trace.notes["waiting"][0], np.minimum(np.arange(1, 31), delay))


def test_delayed_rls_is_rls_of_fewer_rounds() -> None:
    late = composed_job("algo=rls", "feedback.delay=7", *SIZES)
    rounds, _ = block_of(late, 0, 30)
    state, _ = advanced(late, rounds)
    early, _ = advanced(composed_job("algo=rls", *SIZES), Rounds(*(x[:, :23] for x in rounds)))
    assert_same_state(state.learner, early)


def test_all_costs_at_once_are_no_feedback_at_all() -> None:
    assert not isinstance(composed_job("algo=rls").algorithm, Observed)
    assert not isinstance(
        composed_job("algo=rls", "feedback.delay_law=uniform").algorithm, Observed
    )


@pytest.mark.parametrize("law", ["constant", "uniform", "geometric"])
def test_every_round_arrives_once(law: str) -> None:
    feedback = Feedback(delay=3, delay_law=law)
    arrived = [s for t in range(1, 400) for s in feedback.arrivals(t)]
    assert len(set(arrived)) == len(arrived)
    assert set(range(1, 400 - feedback.longest)) <= set(arrived)
    delays = [t - s for t in range(1, 2000) for s in feedback.arrivals(t)]
    assert np.mean(delays) == pytest.approx(3, abs=0.35)


@pytest.mark.parametrize("kind", ["semi_bandit", "bandit"])
@pytest.mark.parametrize("words", [(), BUDGET], ids=["simplex", "budget"])
def test_estimates_are_unbiased(kind: str, words: tuple[str, ...]) -> None:
    """The mean over all that may be played, each with its probability; these add to one."""
    job = composed_job("algo=weighted", "algo.explore=0.3", f"feedback={kind}", *words, *SIZES)
    algorithm: Weighted = job.algorithm.base
    rng, d = np.random.default_rng(0), algorithm.problem.items
    costs, X = rng.normal(size=(1, d)), np.zeros((1, *algorithm.problem.shape))
    best = algorithm.problem.polytope.minimise(rng.normal(size=(1, d)))
    seen = Seen(X, costs, np.zeros(1), best, best, 1)
    (decisions,), shares = algorithm.chances(seen)
    assert shares.sum() == pytest.approx(1)
    mean = 0.0
    for w, share in zip(decisions, shares, strict=True):
        shown = Feedback(kind=kind).show(X, costs, w[None], best, 1)
        mean = mean + share * algorithm.estimate(shown)[0]
    unlike = {tuple(w) for w in decisions}
    chance = [algorithm.propensity(seen._replace(w=np.array([w])))[0] for w in unlike]
    assert sum(chance) == pytest.approx(1)
    if kind == "semi_bandit" or not words:
        np.testing.assert_allclose(mean, costs[0])
    np.testing.assert_allclose(decisions @ mean, decisions @ costs[0])


@pytest.mark.parametrize("kind", ["semi_bandit", "bandit"])
def test_rls_regresses_on_what_is_seen(kind: str) -> None:
    job = composed_job("algo=rls", f"feedback={kind}", *BUDGET, *SIZES)
    rounds, _ = block_of(job, 0, 30)
    state, trace = advanced(job, rounds)
    X, costs, w = rounds.X[0], rounds.costs[0], trace.decision[0]
    if kind == "bandit":
        rows, targets = np.einsum("tip,ti->tp", X, w), (w * costs).sum(-1)
    else:
        rows, targets = X[w != 0], costs[w != 0]
    theta = np.linalg.solve(rows.T @ rows + np.eye(rows.shape[1]), rows.T @ targets)
    np.testing.assert_allclose(state.learner.thetas[0, 0], theta, rtol=1e-8)


def test_thompson_draws_from_the_posterior() -> None:
    """Mean and covariance of a Gaussian model, over many draws."""
    job = composed_job("algo=thompson", "algo.scale=1", "feedback=bandit", *SIZES)
    rounds, _ = block_of(job, 0, 30)
    algorithm, state = job.algorithm.base, advanced(job, rounds)[0].learner
    theta, A, sigma = (values[0] for values in algorithm.moments(state))
    normal = np.random.default_rng(0).normal(size=(20_000, len(theta)))
    root = np.linalg.cholesky(A)
    drawn = theta + sigma * np.linalg.solve(root.T, normal.T).T
    covariance = sigma**2 * np.linalg.inv(A)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.05 * np.abs(covariance).max())
    X = rounds.X[:1, 0]
    plays = np.array([
        algorithm.decide(
            type(state)(state.t, *(x[:1] for x in state[1:])), X, {"thompson/theta": z[None]}
        )[1][0].argmax()
        for z in normal[:400]
    ])  # fmt: skip
    np.testing.assert_array_equal(plays, (drawn[:400] @ X[0].T).argmin(-1))


def test_ucb_lowers_costs_by_their_standard_errors() -> None:
    job = composed_job("algo=ucb", "algo.width=2", "feedback=bandit", *SIZES)
    rounds, _ = block_of(job, 0, 30)
    algorithm, state = job.algorithm.base, advanced(job, rounds)[0].learner
    theta, A, sigma = algorithm.moments(state)
    X = rounds.X[:, 3]
    for s in range(3):
        errors = sigma[s] * np.sqrt(np.diag(X[s] @ np.linalg.inv(A[s]) @ X[s].T))
        lower = X[s] @ theta[s] - 2 * errors
        assert algorithm.decide(state, X)[1][s].argmax() == lower.argmin()


REFUSED = {
    "feedback.delay=30: no cost arrives": ("algo=rls", "feedback.delay=30"),
    "feedback.delay": ("algo=rls", "feedback.delay=-1"),
    "algo=df_ogd needs all costs; choose algo=rls": ("algo=df_ogd", "feedback=bandit"),
    "algo=ucb needs all costs": ("algo=ucb", "feedback=bandit", *BUDGET),
    "algo=vote needs all costs": ("algo=vote", "feedback=semi_bandit"),
    "feedback=semi_bandit: every decision uses all items": (
        "algo=rls", "feedback=semi_bandit", "polytope=ball",
    ),
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_is_refused_in_one_line(message: str) -> None:
    with pytest.raises(UserError) as refusal:
        composed_job(*REFUSED[message], "horizon.rounds=30")
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_seed_does_not_depend_on_others_or_on_blocks() -> None:
    words = ("algo=weighted", "feedback=semi_bandit", "feedback.delay=3", "horizon.rounds=30")
    whole = simulate(composed_job(*words, "seeds=4")).table
    cut = simulate(composed_job(*words, "seeds=4"), block=7).table
    alone = simulate(composed_job(*words, "seeds=[2]")).table
    for name, values in whole.items():
        np.testing.assert_array_equal(cut[name], values)
        np.testing.assert_array_equal(alone[name][0], values[2])


@pytest.mark.parametrize("kind", ["semi_bandit", "bandit"])
def test_a_learner_takes_what_was_paid_for_what_was_played(kind: str) -> None:
    job = composed_job("algo=thompson", f"feedback={kind}", "horizon.rounds=30", "seeds=[3]")
    rounds, _ = block_of(job, 0, 30)
    state, _ = advanced(job, rounds)
    learner = Learner(algo="thompson", feedback=kind, horizon={"rounds": 30}, seed=3)
    for X, costs in zip(rounds.X[0], rounds.costs[0], strict=True):
        w = learner.predict_one(X)
        seen = costs @ w if kind == "bandit" else np.where(w != 0, costs, np.nan)
        learner.learn_one(X, seen, played=w)
    assert_same_state(learner._place.state.learner, state.learner)
    with pytest.raises(UserError, match="say feedback=semi_bandit or bandit"):
        Learner(algo="rls").learn_one(np.ones((2, 3)), 1.0, played=[1, 0])
    with pytest.raises(UserError, match="a learner takes costs when they come"):
        Learner(algo="rls", feedback={"delay": 3}).predict_one(np.ones((2, 3)))
