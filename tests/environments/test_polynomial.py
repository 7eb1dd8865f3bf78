"""The polynomial data: formula, pattern, random access, realisability, refusals."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from odfl_cli.core.streams import Draw, draw
from odfl_cli.environments.polynomial import Polynomial

SEEDS = (0, 3)


@pytest.mark.parametrize("maximise", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("degree", [1, 2, 3, 8])
def test_rounds_by_hand(degree, intercept, maximise):
    sizes = {"items": 4, "features": 3, "noise_width": 0.4, "drift_weight": 0.3}
    env = Polynomial(degree=degree, intercept=intercept, maximise=maximise, **sizes)
    X, costs = env.rounds(SEEDS, 10, 30)
    assert X.shape == (2, 20, 4, env.features) == (2, 20, 4, 4 if intercept else 3)
    coins = draw(SEEDS, "data/pattern", Draw("uniform", (4, 3)))
    x = draw(SEEDS, "data/covariates", Draw("normal", (3,)), 10, 30)
    zeta = draw(SEEDS, "data/drift", Draw("normal", (3,)), 10, 30)
    noise = draw(SEEDS, "data/noise", Draw("uniform", (4,)), 10, 30)
    for s, t, j in np.ndindex(2, 20, 4):
        row = [x[s, t, k] / math.sqrt(3) if coins[s, 0, j, k] < 0.5 else 0.0 for k in range(3)]
        np.testing.assert_allclose(X[s, t, j], row + [1.0] * intercept, rtol=1e-15)
        signal = math.fsum(row[k] * (0.7 + 0.3 * zeta[s, t, k]) for k in range(3))
        value = ((signal + 3) ** degree + 1) / 3.5**degree
        value *= 0.6 + 0.8 * noise[s, t, j]
        assert costs[s, t, j] == pytest.approx(-value if maximise else value, rel=1e-12, abs=1e-15)


def test_a_negative_base_follows_the_formula():
    """s + 3 < 0 happens: an even degree gives high values there, an odd one negative values."""
    far = {"items": 3, "features": 1, "noise_width": 0.0, "drift_weight": 1.0}
    linear, square, cube = (Polynomial(degree=k, **far).rounds((1,), 0, 2000) for k in (1, 2, 3))
    base = 3.5 * linear.costs - 1.0
    assert base.min() < -1.1
    np.testing.assert_allclose(square.costs, (base**2 + 1) / 3.5**2, rtol=1e-9)
    np.testing.assert_allclose(cube.costs, (base**3 + 1) / 3.5**3, rtol=1e-9, atol=1e-12)
    assert square.costs.min() > 0 > cube.costs.min()


def test_the_pattern_is_fair_stays_and_differs_between_seeds():
    seeds = tuple(range(40))
    X = Polynomial(items=30, features=20, intercept=False).rounds(seeds, 0, 3).X
    pattern = X != 0
    assert (pattern == pattern[:, :1]).all()
    assert abs(pattern[:, 0].mean() - 0.5) < 4 * 0.5 / math.sqrt(40 * 30 * 20)
    assert (pattern[0] != pattern[1]).any()


@pytest.mark.parametrize("maximise", [False, True])
@pytest.mark.parametrize("drift_weight", [0.0, 0.5])
def test_degree_one_is_realisable_with_the_intercept(drift_weight, maximise):
    """theta_star predicts 3.5 times the mean cost; without drift and noise, the cost itself."""
    law = {"degree": 1, "noise_width": 0.0, "random_signs": True, "drift_weight": drift_weight}
    env = Polynomial(items=12, features=3, maximise=maximise, **law)
    X, costs = env.rounds(SEEDS, 0, 2000)
    predicted = np.einsum("sbdp,sp->sbd", X, env.theta_star(SEEDS)) / 3.5
    if drift_weight == 0:
        np.testing.assert_allclose(predicted, costs, rtol=1e-12, atol=1e-14)
    for s in range(2):  # least squares over all rounds finds the same parameter
        fitted = np.linalg.lstsq(X[s].reshape(-1, 4), costs[s].ravel())[0]
        np.testing.assert_allclose(
            3.5 * fitted, env.theta_star(SEEDS)[s], atol=0.15 * drift_weight + 1e-10
        )


def test_higher_degrees_are_not_realisable():
    env = Polynomial(items=12, features=3, degree=3, noise_width=0.0)
    X, costs = env.rounds((0,), 0, 200)
    residual = np.linalg.lstsq(X.reshape(-1, 4), costs.ravel())[1]
    assert residual.item() > 1.0


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_theta_star_is_the_tangent_of_the_mean_cost(degree):
    env = Polynomial(features=3, degree=degree, maximise=True)
    at, step = np.array([0.0]), 1e-6
    slope = (env._mean_value(at + step) - env._mean_value(at - step)) / (2 * step)
    *direction, intercept = env.theta_star((4,))[0]
    assert direction == [-1.0] * 3
    assert intercept == pytest.approx(-(env._mean_value(at) / slope).item(), rel=1e-8)
    without = Polynomial(features=3, degree=degree, intercept=False, drift_weight=0.25)
    assert without.theta_star((4, 5)).tolist() == [[0.75] * 3] * 2


def test_random_signs_are_fair_signs_of_the_seed():
    env = Polynomial(features=6, random_signs=True, intercept=False)
    signs = env.theta_star(tuple(range(500)))
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert np.abs(signs.mean(0)).max() < 4 / math.sqrt(500)
    np.testing.assert_array_equal(env.theta_star((2, 8, 5))[1], env.theta_star((8,))[0])


def test_the_highest_degree_stays_finite():
    assert np.isfinite(Polynomial(degree=100, drift_weight=1).rounds(SEEDS, 0, 500).costs).all()


def test_replaced_and_pickled():
    env = Polynomial(items=7, features=3)
    assert replace(env, degree=2) == Polynomial(items=7, features=3, degree=2)
    assert pickle.loads(pickle.dumps(env)) == env


@pytest.mark.parametrize(
    "settings",
    [{}, {"drift_weight": 0.4, "degree": 5}, {"maximise": True, "degree": 2, "drift_weight": 1.0}],
    ids=str,
)
def test_fresh_costs_are_conditional_means(settings):
    """E[c | x] for a few x, against 200 000 draws of the drift and of the noise."""
    env = Polynomial(**{"items": 3, "features": 4, **settings})
    X, costs = (values[0] for values in env.fresh((7,), 0, 4))
    rng = np.random.default_rng(0)
    zeta, uniform = rng.normal(size=(4, 200_000)), rng.random(200_000)
    theta = (1 - env.drift_weight) + env.drift_weight * zeta
    for n, j in np.ndindex(costs.shape):
        value = ((X[n, j, :4] @ theta + 3) ** env.degree + 1) / 3.5**env.degree
        value *= 1 + env.noise_width * (2 * uniform - 1)
        cost = -value if env.maximise else value
        assert abs(costs[n, j] - cost.mean()) < 5 * cost.std() / 200_000**0.5 + 1e-12


def test_fresh_rounds_keep_the_pattern_of_the_seed():
    env = Polynomial(items=6, features=4)
    fresh, drawn = env.fresh((3, 5), 0, 20), env.rounds((3, 5), 0, 1)
    np.testing.assert_array_equal(fresh.X[:, 0] != 0, drawn.X[:, 0] != 0)
