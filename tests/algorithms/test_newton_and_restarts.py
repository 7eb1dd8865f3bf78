"""The online Newton step, the forecaster of Vovk, Azoury and Warmuth, FTPL-D and FTPL-A."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from support.playing import play
from support.problems import composed_job, make_problem, random_rounds

from odfl_cli.algorithms.df_ftpl import DFFTPL
from odfl_cli.algorithms.ftpl import FTPLA, FTPLD
from odfl_cli.algorithms.ons import ONS, project
from odfl_cli.algorithms.rls import RLS, VAW
from odfl_cli.core.streams import draw_all


@pytest.mark.parametrize("loss", ["square", "spo", "best"])
def test_two_newton_steps_by_hand(loss):
    """One feature, so that A is a number: θ ← θ − η ∇ / (ε + Σ ∇²)."""
    problem = make_problem(items=2, features=1, radius=1e3)
    X, costs = np.array([[[[1.0], [-2.0]], [[2.0], [1.0]]]]), np.array([[[1.0, 3.0], [0.5, 4.0]]])
    algorithm = ONS(problem=problem, loss=loss, eta=0.5, epsilon=2.0)
    theta, metric, state = 0.0, 2.0, algorithm.init(1, None)
    for x, c in zip(X[0, :, :, 0], costs[0], strict=True):
        guess = x * theta
        unit = np.eye(2)
        v = {
            "square": 2.0 * (guess - c),
            "spo": 2.0 * (unit[c.argmin()] - unit[(2.0 * guess - c).argmin()]),
            "best": unit[c.argmin()] - unit[guess.argmin()],
        }[loss]
        gradient = x @ v
        metric += gradient**2
        theta -= 0.5 * gradient / metric
        state = algorithm.update(state, x[None, :, None], c[None], {})
        assert state.theta[0, 0] == pytest.approx(theta, rel=1e-12, abs=1e-15)
        assert state.metric[0, 0, 0] == pytest.approx(metric, rel=1e-13)


@given(seed=st.integers(0, 10_000))
def test_the_projection_solves_its_quadratic_program(seed):
    """Against a general solver; points inside stay."""
    rng = np.random.default_rng(seed)
    y, values = rng.normal(size=4) * 3.0, rng.uniform(0.1, 30.0, size=4)
    found = project(y[None], values[None], 1.0)[0]
    assert np.linalg.norm(found) <= 1.0 + 1e-12
    ball = {"type": "ineq", "fun": lambda x: 1.0 - x @ x, "jac": lambda x: -2.0 * x}
    solved = minimize(
        lambda x: values @ (x - y) ** 2, y / max(1.0, np.linalg.norm(y)), constraints=[ball],
        jac=lambda x: 2.0 * values * (x - y), method="SLSQP", options={"ftol": 1e-14},
    )  # fmt: skip
    np.testing.assert_allclose(found, solved.x, atol=1e-5)
    np.testing.assert_array_equal(project(0.1 * y[None], values[None], 10.0)[0], 0.1 * y)


def test_vaw_is_its_closed_form_and_decides_unlike_ridge():
    """ĉ = D (λI + Σ_{s≤t} DᵀD)⁻¹ Σ_{s<t} Dᵀc = (I + D A⁻¹ Dᵀ)⁻¹ D θ."""
    problem, rounds = make_problem(radius=1e3), random_rounds(1, 20, 4, 3)
    algorithm, ridge = VAW(problem=problem, ridge=0.7), RLS(problem=problem, ridge=0.7)
    other = 0
    for t, state in enumerate([algorithm.init(1, None), *play(algorithm, rounds)[:-1]]):
        D, past = rounds.X[0, t], rounds.X[0, :t].reshape(-1, 3)
        A = 0.7 * np.eye(3) + past.T @ past
        b = past.T @ rounds.costs[0, :t].reshape(-1)
        (prediction,), (decision,) = algorithm.decide(state, rounds.X[:, t])
        np.testing.assert_allclose(prediction, D @ np.linalg.solve(A + D.T @ D, b), atol=1e-12)
        shrunk = np.linalg.solve(np.eye(4) + D @ np.linalg.solve(A, D.T), D @ np.linalg.solve(A, b))
        np.testing.assert_allclose(prediction, shrunk, atol=1e-12)
        other += (decision != ridge.decide(state, rounds.X[:, t])[1][0]).any()
    assert other > 0


def test_ftpl_d_is_df_ftpl_started_anew_from_the_theta_that_it_has():
    """Two periods of five rounds, each a DF-FTPL of T = 5."""
    problem, rounds = make_problem(rounds=10), random_rounds(2, 10, 4, 3)
    algorithm = FTPLD(problem=problem, period=5)
    draws = draw_all((3, 4), algorithm.draws(), 0, 10)
    found = [algorithm.init(2, None), *play(algorithm, rounds, draws)]
    short = DFFTPL(problem=make_problem(rounds=5))
    assert (algorithm.alpha, algorithm.eta) == (short.alpha, short.eta)
    for first in (0, 5):
        state = short.init(2, None)._replace(theta=found[first].theta)
        for t in range(first, first + 5):
            drawn = {name: values[:, t] for name, values in draws.items()}
            state = short.update(state, rounds.X[:, t], rounds.costs[:, t], drawn)
            np.testing.assert_array_equal(state.theta, found[t + 1].theta)
    assert found[-1].t == 10
    assert FTPLD(problem=make_problem(rounds=1000)).horizon == 100


def test_ftpl_a_weighs_ftpl_d_with_doubling_periods():
    problem = make_problem(rounds=100)
    algorithm = FTPLA(problem=problem, base=partial(FTPLD, c_eta=10.0), shortest=20)
    assert [one.horizon for one in algorithm.learners] == [20, 40, 80, 100]
    state = algorithm.init(2, None)
    assert state.weights.shape == (2, 4)
    chosen = composed_job("algo=ftpl_a", "horizon.rounds=300").algorithm
    assert [one.period for one in chosen.learners] == [64, 128, 256, 300]
