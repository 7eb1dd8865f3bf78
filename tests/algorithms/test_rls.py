"""Recursive least squares: against independent solvers, with forgetting, and where it must win."""

import math
from dataclasses import replace

import numpy as np
import pytest
from support.playing import WIDE, final_regret, play
from support.problems import choices, composed_job, make_problem, random_rounds
from support.samples import some_of

from odfl_cli.algorithms.df_moments import DFMoments
from odfl_cli.algorithms.rls import RLS
from odfl_cli.core.errors import UserError
from odfl_cli.problem.predictors.linear import Linear
from odfl_cli.runs.simulate import simulate


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


@pytest.mark.thorough
@pytest.mark.parametrize(("drift", "gain"), [("paper", (-0.004, 0.01)), ("switching", (0.02, 1.0))])
def test_forgetting_that_is_chosen_online(drift, gain):
    """Level with plain RLS where nothing changes; pays less where θ* changes every 500 rounds."""
    world = (*LEARNABLE, f"data.drift={drift}", "data.drift_period=500", "horizon.rounds=2000")
    plain, adaptive = (
        simulate(composed_job(f"algo={algo}", *world)).table["avg_cost"][:, -1].mean()
        for algo in ("rls", "rls_adaptive")
    )
    assert gain[0] < plain - adaptive < gain[1]


@pytest.mark.thorough
def test_quadratic_features_pay_less_than_the_best_linear_decision():
    """Least squares from the first round against a known θ*, on the paper's data."""
    world = ("horizon.rounds=2000", "seeds=[1000,1001,1002,1003]")
    quadratic = simulate(composed_job("algo=rls", "predictor=quadratic", *world))
    linear = simulate(composed_job("algo=clairvoyant", *world))
    difference = linear.table["avg_cost"][:, -1] - quadratic.table["avg_cost"][:, -1]
    assert (difference > 0.02).all()


class Wavy(Linear):
    """A predictor that is not linear in θ."""

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
    "data.gamma=0", "data.drift_weight=0", "data.clip=false", "data.theta_star_norm=0.9",
    "horizon.rounds=300", "seeds=12",
)  # fmt: skip


LEAST_SQUARES = {"rls", "df_moments", "guard", "vote"}
LEAST_SQUARES |= {"epsilon_greedy", "explore_then_commit", "thompson", "ucb"}
"""These play least squares too where the linear model is right, or follow whoever does."""
RIVALS = sorted(set(choices("algo")) - LEAST_SQUARES - {"clairvoyant"})


@pytest.mark.parametrize("rival", some_of(RIVALS, 3))
def test_rls_beats_everyone_where_the_linear_model_is_right(rival):
    """In cost on average over the seeds, in squared error for every seed; all see the same data."""
    regret, mse = final_regret("rls", *REALISABLE)
    theirs, their_mse = final_regret(rival, *REALISABLE)
    assert regret.mean() < theirs.mean()
    assert (mse < their_mse).all()


def test_rls_nearly_knows_the_truth_where_the_linear_model_is_right():
    """After 300 rounds it has nine tenths of the gain that θ* has over uniform play."""
    regret, floor, idle = (
        final_regret(algo, *REALISABLE)[0].mean() for algo in ("rls", "clairvoyant", "uniform")
    )
    assert floor < regret < floor + 0.1 * (idle - floor)
