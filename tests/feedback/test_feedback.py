"""What is not seen moves no number; what is seen late is used late; estimates are unbiased."""

from dataclasses import replace

import numpy as np
import pytest
from river import bandit
from support.learning import assert_same_state
from support.problems import block_of, composed_job
from support.samples import each_once

from odfl_cli import Learner, UserError
from odfl_cli.algorithms.base import Algorithm
from odfl_cli.algorithms.explore import Weighted
from odfl_cli.algorithms.gradient import spo_plus_subgradient
from odfl_cli.algorithms.observed import Observed, observe
from odfl_cli.core.arrays import unit
from odfl_cli.engine.array_engine import ArrayEngine
from odfl_cli.environments.base import Rounds
from odfl_cli.feedback.base import Feedback, Seen
from odfl_cli.problem.surrogate import SmoothedCost
from odfl_cli.runs.simulate import simulate

PARTIAL = ("rls", "thompson", "ucb", "dfhpg", "epsilon_greedy", "explore_then_commit", "weighted")
SIZES = ("horizon.rounds=30", "seeds=3")
BUDGET = ("polytope=budget", "regularizer=log_barrier", "data.items=6")
KNAPSACK = ("polytope=knapsack", "regularizer=log_barrier", "data.items=4", "polytope.capacity=1")


def play_block(job, rounds):
    draws = block_of(job, 0, rounds.costs.shape[1])[1]
    state = job.algorithm.init(len(job.seeds), None)
    return job.engine.advance(job.algorithm, state, rounds, draws)


@pytest.mark.parametrize(
    ("algo", "kind"), each_once([*PARTIAL, "policy_gradient"], ["semi_bandit", "bandit"])
)
def test_costs_that_are_not_seen_move_no_number(algo: str, kind: str) -> None:
    job = composed_job(f"algo={algo}", f"feedback={kind}", *SIZES)
    rounds, _ = block_of(job, 0, 30)
    state, trace = play_block(job, rounds)
    poisoned = np.where(trace.decision != 0, rounds.costs, 1e6)
    other, again = play_block(job, Rounds(rounds.X, poisoned))
    np.testing.assert_array_equal(again.decision, trace.decision)
    np.testing.assert_array_equal(again.cost, trace.cost)
    assert_same_state(other.learner, state.learner)


def test_of_several_items_the_sum_alone_is_seen_with_bandit_feedback() -> None:
    job = composed_job("algo=thompson", "feedback=bandit", *BUDGET, *SIZES)
    rounds, _ = block_of(job, 0, 30)
    state, trace = play_block(job, rounds)
    away = np.random.default_rng(0).normal(size=rounds.costs.shape)
    w = trace.decision
    away -= w * ((away * w).sum(-1) / (w * w).sum(-1))[..., None]  # ⟨away, w⟩ = 0
    other, _ = play_block(job, Rounds(rounds.X, rounds.costs + away))
    np.testing.assert_allclose(other.theta, state.theta, rtol=1e-9)


@pytest.mark.parametrize("algo", ["df_ogd", "rls", "vote", "delayed_ogd", "igt_omd"])
def test_nothing_is_used_before_it_arrives(algo: str) -> None:
    delay = 4
    job = composed_job(f"algo={algo}", f"feedback.delay={delay}", *SIZES)
    rounds, _ = block_of(job, 0, 30)
    state, trace = play_block(job, rounds)
    later = rounds.costs.copy()
    later[:, 30 - delay :] = 1e6
    other, again = play_block(job, Rounds(rounds.X, later))
    assert_same_state(other.learner, state.learner)
    np.testing.assert_array_equal(again.decision, trace.decision)
    np.testing.assert_array_equal(trace.notes["waiting"][0], np.minimum(np.arange(1, 31), delay))


def test_an_algorithm_may_keep_what_it_has_seen() -> None:
    shown = []

    class Keeper(Algorithm):
        def learn(self, state, seen, draws):
            shown.append(seen)
            return state._replace(t=state.t + 1)

    job = composed_job("feedback.delay=3", *SIZES)
    algorithm = observe(Keeper(problem=job.algorithm.problem), Feedback(delay=3))
    rounds, draws = block_of(job, 0, 30)
    ArrayEngine().advance(algorithm, algorithm.init(3, None), rounds, draws)
    assert [seen.t for seen in shown] == list(range(1, 28))
    for seen in shown:
        np.testing.assert_array_equal(seen.costs, rounds.costs[:, seen.t - 1])
        np.testing.assert_array_equal(seen.X, rounds.X[:, seen.t - 1])


def test_delayed_rls_is_rls_of_fewer_rounds() -> None:
    late = composed_job("algo=rls", "feedback.delay=7", *SIZES)
    rounds, _ = block_of(late, 0, 30)
    state, _ = play_block(late, rounds)
    early, _ = play_block(composed_job("algo=rls", *SIZES), Rounds(*(x[:, :23] for x in rounds)))
    assert_same_state(state.learner, early)


def test_all_costs_at_once_are_no_feedback_at_all() -> None:
    assert not isinstance(composed_job("algo=rls").algorithm, Observed)
    assert not isinstance(
        composed_job("algo=rls", "feedback.delay_law=uniform").algorithm, Observed
    )


@pytest.mark.parametrize("algo", ["rls", "df_ogd", "dfhpg", "weighted", "delayed_ogd", "igt_omd"])
def test_behind_feedback_that_hides_nothing_all_numbers_are_the_same(algo: str) -> None:
    """The wrapper for feedback changes no bit, draws included."""
    job = composed_job(f"algo={algo}", "engine=array", *SIZES)
    parts = {"problem": job.algorithm.problem, "base": job.algorithm, "feedback": Feedback()}
    behind = replace(job, algorithm=Observed(**parts))
    rounds, _ = block_of(job, 0, 30)
    (state, trace), (other, again) = play_block(job, rounds), play_block(behind, rounds)
    assert_same_state(other.learner, state)
    np.testing.assert_array_equal(again.cost, trace.cost)


RATES = {
    "delayed_ogd": lambda time: (time**-0.25, time**-0.75),
    "igt_omd": lambda time: (1.0, time**-0.5),
}
"""α and η but for n^{−1/2}, with c_α = c_η = 1."""


def late_jobs(algo: str, delay: int):
    words = ("algo.c_alpha=1", "algo.c_eta=1", "engine=array", f"feedback.delay={delay}", *SIZES)
    return {g: composed_job(f"algo={algo}", f"algo.gradient={g}", *words)
            for g in ("stale", "transported")}  # fmt: skip


@pytest.mark.parametrize("algo", RATES)
def test_gradients_of_old_rounds_are_those_of_then_or_of_now(algo: str) -> None:
    """Two arrivals by hand."""
    delay, jobs = 3, late_jobs(algo, 3)
    problem, (rounds, _) = jobs["stale"].algorithm.problem, block_of(jobs["stale"], 0, 30)
    n, theta = problem.regularizer.suboptimality, np.zeros((3, problem.parameters))
    for s in (0, 1):  # the costs of round 2 arrive after round 5, decided with θ = 0
        alpha, eta = RATES[algo](float((s + 1) * (1 + delay)))
        loss = SmoothedCost(problem, rounds.X[:, s], rounds.costs[:, s], n**-0.5 * alpha)
        slope = {"stale": loss.gradient(0 * theta), "transported": loss.gradient(theta)}
        for name, job in jobs.items():
            first = Rounds(*(x[:, : s + 1 + delay] for x in rounds))
            moved = problem.theta_set.project(theta - n**-0.5 * eta * slope[name])
            np.testing.assert_allclose(play_block(job, first)[0].theta, moved, rtol=1e-10)
        assert s == 0 or np.abs(slope["stale"] - slope["transported"]).max() > 1e-6
        theta = moved


@pytest.mark.parametrize("algo", RATES)
def test_without_delay_nothing_is_stale(algo: str) -> None:
    """Costs that arrive before the next round: to the bit the same, which is descent at θ_t."""
    jobs = late_jobs(algo, 0)
    rounds, _ = block_of(jobs["stale"], 0, 30)
    stale, moved = (play_block(jobs[name], rounds)[0].theta for name in ("stale", "transported"))
    np.testing.assert_array_equal(stale, moved)
    if algo == "delayed_ogd":
        words = ("algo=ogd", "algo.c_alpha=1", "algo.c_eta=1", "engine=array", *SIZES)
        np.testing.assert_allclose(moved, play_block(composed_job(*words), rounds)[0].theta, rtol=1e-12)  # fmt: skip
        return
    problem = jobs["stale"].algorithm.problem
    n, theta = problem.regularizer.suboptimality, np.zeros_like(moved)
    for t, (X, costs) in enumerate(zip(*(x.swapaxes(0, 1) for x in rounds), strict=True), 1):
        loss = SmoothedCost(problem, X, costs, np.full((3, 1), n**-0.5))
        step = n**-0.5 * (1.0 / np.sqrt(t))  # mirror descent with ½‖θ‖² on a ball
        theta = problem.theta_set.project(theta - step * loss.gradient(theta))
    np.testing.assert_array_equal(moved, theta)


@pytest.mark.parametrize("words", [(), KNAPSACK], ids=["entropy", "log_barrier"])
def test_the_step_of_igt_omd_is_a_slope_at_the_theta_of_now(words: tuple[str, ...]) -> None:
    """Against finite differences of the smoothed cost of a round that was played four rounds before."""
    job = composed_job("algo=igt_omd", "algo.c_eta=1e-3", "feedback.delay=4", *words, *SIZES)
    algorithm, rounds = job.algorithm.base, block_of(job, 0, 30)[0]
    old, new = (play_block(job, Rounds(*(x[:, :t] for x in rounds)))[0].theta for t in (29, 30))
    n = algorithm.problem.regularizer.suboptimality
    alpha, eta = algorithm.c_alpha * n**-0.5, 1e-3 * n**-0.5 / np.sqrt(26 * 5)
    loss = SmoothedCost(algorithm.problem, rounds.X[:, 25], rounds.costs[:, 25], np.full((3, 1), alpha))  # fmt: skip
    step = 1e-5 * np.eye(old.shape[1])
    slopes = [(loss.value(old + e) - loss.value(old - e)) / 2e-5 for e in step]
    np.testing.assert_allclose((old - new) / eta, np.stack(slopes, axis=1), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("law", ["constant", "uniform", "geometric"])
def test_every_round_arrives_once(law: str) -> None:
    feedback = Feedback(delay=3, delay_law=law)
    arrived = [s for t in range(1, 400) for s in feedback.arrivals(t)]
    assert len(set(arrived)) == len(arrived)
    assert set(range(1, 400 - feedback.longest)) <= set(arrived)
    delays = [t - s for t in range(1, 2000) for s in feedback.arrivals(t)]
    assert np.mean(delays) == pytest.approx(3, abs=0.35)


@pytest.mark.parametrize("kind", ["semi_bandit", "bandit"])
@pytest.mark.parametrize("words", [(), BUDGET, KNAPSACK], ids=["simplex", "budget", "knapsack"])
def test_estimates_are_unbiased(kind: str, words: tuple[str, ...]) -> None:
    """The mean over all that may be played, each with its probability; these add to one."""
    job = composed_job("algo=weighted", "algo.explore=0.3", f"feedback={kind}", *words, *SIZES)
    algorithm: Weighted = job.algorithm.base
    rng, d = np.random.default_rng(0), algorithm.problem.items
    costs, X = rng.normal(size=(1, d)), np.zeros((1, *algorithm.problem.shape))
    best = algorithm.problem.polytope.minimise(rng.normal(size=(1, d)))
    memo = np.concatenate([best, [[algorithm.explore]]], axis=1)
    seen = Seen(X, costs, np.zeros(1), best, memo, 1)
    (decisions,), (shares,) = algorithm.chances(seen)
    assert shares.sum() == pytest.approx(1)
    mean = 0.0
    for w, share in zip(decisions, shares, strict=True):
        shown = Feedback(kind=kind).show(X, costs, w[None], memo, 1)
        mean = mean + share * algorithm.estimate(shown)[0]
    unlike = {tuple(w) for w in decisions}
    chance = [algorithm.propensity(seen._replace(w=np.array([w])))[0] for w in unlike]
    assert sum(chance) == pytest.approx(1)
    if kind == "semi_bandit" or not words:
        np.testing.assert_allclose(mean, costs[0])
    np.testing.assert_allclose(decisions @ mean, decisions @ costs[0])


@pytest.mark.parametrize("words", [(), BUDGET], ids=["simplex", "budget"])
def test_the_mean_of_estimates_is_the_cost(words: tuple[str, ...]) -> None:
    """4,000 seeds that draw their own decisions: no item's mean is off by more than 4.5 standard errors."""
    job = composed_job("algo=weighted", "algo.explore=0.5", "feedback=semi_bandit", *words, *SIZES)
    algorithm, seeds = job.algorithm.base, 4000
    X = np.repeat(block_of(job, 0, 1)[0].X[:1, 0], seeds, axis=0)
    costs = np.repeat(np.linspace(-1, 2, algorithm.problem.items)[None], seeds, axis=0)
    chosen = {"weighted/explore": np.random.default_rng(0).uniform(size=seeds)}
    state = algorithm.init(seeds, None)
    w, memo = algorithm.decide(state, X, chosen)[1], algorithm.memo(state, X, chosen)
    assert len(np.unique(w, axis=0)) > 3
    estimates = algorithm.estimate(Feedback(kind="semi_bandit").show(X, costs, w, memo, 1))
    errors = estimates.std(0, ddof=1) / seeds**0.5
    assert (np.abs(estimates.mean(0) - costs[0]) <= 4.5 * errors + 1e-12).all()


@pytest.mark.parametrize("kind", ["semi_bandit", "bandit"])
def test_rls_regresses_on_what_is_seen(kind: str) -> None:
    job = composed_job("algo=rls", f"feedback={kind}", *BUDGET, *SIZES)
    rounds, _ = block_of(job, 0, 30)
    state, trace = play_block(job, rounds)
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
    algorithm, state = job.algorithm.base, play_block(job, rounds)[0].learner
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


def test_least_squares_of_an_arm_is_rivers() -> None:
    """River's disjoint model is ours with features for each arm; its bonus is √(1 + dᵀA⁻¹d)."""
    arms, p, rng = 3, 2, np.random.default_rng(1)
    words = ("algo=ucb", "predictor=per_item", f"data.items={arms}", f"data.features={p}")
    algorithm = composed_job(
        *words, "feedback=bandit", "horizon.rounds=60", "seeds=1"
    ).algorithm.base
    theirs, state = bandit.LinUCBDisjoint(seed=0), algorithm.init(1, None)
    for t in range(1, 61):
        x = rng.normal(size=p)
        X, context = np.tile(x, (1, arms, 1)), dict(enumerate(x))
        theta, A, _ = algorithm.moments(state)
        D = algorithm.design(X)[0]
        bonus = np.sqrt(1 + np.diag(D @ np.linalg.inv(A[0]) @ D.T))
        arm = int((D @ theta[0] - bonus).argmin()) if t > arms else t - 1  # at first all are alike
        assert t <= arms or theirs.pull(list(range(arms)), context) == arm
        w, cost = np.eye(arms)[[arm]], float(rng.normal() + x[0] * arm)
        theirs.update(arm, context, -cost)
        seen = Feedback(kind="bandit").show(X, cost * w, w, X[:, 0, :0], t)
        state = algorithm.learn(state, seen, {})


def test_ucb_lowers_costs_by_their_standard_errors() -> None:
    job = composed_job("algo=ucb", "algo.width=2", "feedback=bandit", *SIZES)
    rounds, _ = block_of(job, 0, 30)
    algorithm, state = job.algorithm.base, play_block(job, rounds)[0].learner
    theta, A, sigma = algorithm.moments(state)
    X = rounds.X[:, 3]
    for s in range(3):
        errors = sigma[s] * np.sqrt(np.diag(X[s] @ np.linalg.inv(A[s]) @ X[s].T))
        lower = X[s] @ theta[s] - 2 * errors
        assert algorithm.decide(state, X)[1][s].argmax() == lower.argmin()


@pytest.mark.parametrize("kind", ["full", "semi_bandit", "bandit"])
def test_dfhpg_descends_both_gradients(kind: str) -> None:
    """One round by hand, from a state that has learned."""
    constants = ("algo.sigma=0.2", "algo.eta=0.3")
    job = composed_job("algo=dfhpg", *constants, f"feedback={kind}", *BUDGET, *SIZES)
    rounds, draws = block_of(job, 0, 30)
    algorithm = getattr(job.algorithm, "base", job.algorithm)
    state = play_block(job, Rounds(*(x[:, :29] for x in rounds)))[0]
    state = getattr(state, "learner", state)
    X, costs, Z = rounds.X[:, 29], rounds.costs[:, 29], draws["dfhpg/noise"][:, 29]
    predicted = X @ state.theta[..., None]
    prediction, polytope = predicted[..., 0], algorithm.problem.polytope
    w = polytope.minimise(prediction + 0.2 * Z)
    paid = (w * costs).sum(-1)
    seen = Feedback(kind=kind).show(X, costs, w, Z, 30)
    before = (X @ state.nuisance.theta[..., None])[..., 0] if kind != "full" else costs
    nuisance = algorithm.learner.learn(state.nuisance, seen, {})
    f = np.where(np.isnan(seen.costs), (X @ nuisance.theta[..., None])[..., 0], seen.costs)
    baseline = (before * polytope.minimise(before)).sum(-1)
    score = np.einsum("sip,si->sp", X, (paid - baseline)[:, None] * Z / 0.2)
    plug_in = np.einsum("sip,si->sp", X, spo_plus_subgradient(polytope, prediction, f))
    alpha = state.alpha[:, None]
    step = 0.3 * 101 / 130 * (alpha * unit(score) + (1 - alpha) * unit(plug_in))
    theta = algorithm.problem.theta_set.project(state.theta - step)
    after = algorithm.learn(state, seen, {})
    np.testing.assert_allclose(after.theta, theta, rtol=1e-9)
    assert (after.alpha <= algorithm.alpha_max).all()


@pytest.mark.parametrize("kind", ["semi_bandit", "bandit"])
@pytest.mark.parametrize("algo", ["policy_gradient", "dfhpg"])
def test_in_units_the_scale_of_costs_is_irrelevant(algo: str, kind: str) -> None:
    words = (f"algo={algo}", "theta_radius=auto", f"feedback={kind}", *SIZES)
    if algo == "dfhpg":  # whose estimate of costs has a ridge, which has units
        words = (*words, "algo.nuisance.ridge=1e-9")
    job = composed_job(*words, "feedback.delay=2")
    rounds, _ = block_of(job, 0, 30)
    (_, trace), (_, again) = (
        play_block(job, rounds),
        play_block(job, Rounds(rounds.X, 1024 * rounds.costs)),
    )
    np.testing.assert_array_equal(again.decision, trace.decision)


REFUSED = {
    "feedback.delay=30: no cost arrives": ("algo=rls", "feedback.delay=30"),
    "feedback.delay": ("algo=rls", "feedback.delay=-1"),
    "algo=df_ogd needs all costs; choose algo=rls": ("algo=df_ogd", "feedback=bandit"),
    "algo=ucb takes it on the simplex alone": ("algo=ucb", "feedback=bandit", *BUDGET),
    "algo=vote needs all costs": ("algo=vote", "feedback=semi_bandit"),
    "algo=delayed_ogd needs all costs": ("algo=delayed_ogd", "feedback=semi_bandit"),
    "algo.nuisance: thompson explores": ("algo=dfhpg", "algo@algo.nuisance=thompson"),
    "algo.alpha_min=0.9 > algo.alpha_max=0.5": ("algo=dfhpg", "algo.alpha_min=0.9"),
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
    state, _ = play_block(job, rounds)
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


def test_late_costs_of_random_decisions_are_learned_from_with_their_chances():
    """With a delay of 20, the decisions of the first 30 rounds are random until ten costs were seen."""
    words = ("algo=explore_then_commit", "algo.explore=10", "feedback=bandit", "feedback.delay=20")
    job = composed_job(*words, "engine=array", "horizon.rounds=60", "horizon.rows=60", "seeds=2")
    table = simulate(job).table
    likely = table["propensity"]  # after the update of round t: that of round t − 20
    assert (likely[:, 20:50] < 1).all()
    assert (likely[:, 50:] == 1).all()
