"""The synthetic data: covariance, cost formula, random access, refusals."""

import math

import numpy as np
import pytest
from support.samples import some_of

from odfl_cli.core.streams import Draw, draw
from odfl_cli.environments.sin4 import Sin4

SEEDS = (0, 3)


def toeplitz(rho: float, size: int) -> np.ndarray:
    return np.array([[rho ** abs(i - j) for j in range(size)] for i in range(size)])


@pytest.mark.parametrize("rho", [0.8, 0.0, -0.6, 0.99])
@pytest.mark.parametrize(("items", "features"), [(2, 1), (6, 4), (30, 2)])
def test_covariates_are_the_cholesky_factor_times_normals(rho, items, features):
    X = Sin4(items=items, features=features, rho=rho).rounds(SEEDS, 3, 8).X
    Z = draw(SEEDS, "data/covariates", Draw("normal", (items, features)), 3, 8)
    L = np.linalg.cholesky(toeplitz(rho, items))
    np.testing.assert_allclose(X, L @ Z, rtol=0, atol=1e-12)


@pytest.mark.parametrize("clip", [True, False])
@pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0])
def test_costs_by_hand(gamma, clip):
    env = Sin4(
        items=5, features=3, amplitude=7.0, gamma=gamma, clip=clip, noise_std=0.4, drift_weight=0.3
    )
    X, costs = env.rounds(SEEDS, 10, 40)
    zeta = draw(SEEDS, "data/drift", Draw("normal", (3,)), 10, 40)
    noise = draw(SEEDS, "data/noise", Draw("normal", (5,)), 10, 40)
    theta_star = env.theta_star(SEEDS)
    for s in range(2):
        for t in range(30):
            theta = [0.7 * theta_star[s, j] + 0.3 * zeta[s, t, j] for j in range(3)]
            for i in range(5):
                z = math.fsum(X[s, t, i, j] * theta[j] for j in range(3))
                expected = (1 - gamma) * z + gamma * 7.0 * math.sin(1 / (2 * z)) ** 4
                expected += 0.4 * noise[s, t, i]
                if clip:
                    expected = min(max(expected, 0.0), 1.0)
                # sin⁴(1/2z) has slope at most 2/z²: rounding in z weighs that much.
                assert abs(costs[s, t, i] - expected) < 1e-12 + 1e-13 / z**2


def test_theta_star_has_norm_root_p_unless_told():
    seeds = tuple(range(20))
    np.testing.assert_allclose(np.linalg.norm(Sin4(features=7).theta_star(seeds), axis=1), 7**0.5)
    short = Sin4(features=7, theta_star_norm=0.25).theta_star(seeds)
    np.testing.assert_allclose(np.linalg.norm(short, axis=1), 0.25)
    np.testing.assert_allclose(short * 4 * 7**0.5, Sin4(features=7).theta_star(seeds))


def test_theta_star_points_everywhere():
    """Uniform directions have mean 0 and second moment I/p."""
    directions = Sin4(features=4, theta_star_norm=1.0).theta_star(tuple(range(3000)))
    assert np.abs(directions.mean(0)).max() < 4 * math.sqrt(1 / 4 / 3000)
    assert np.abs(directions.T @ directions / 3000 - np.eye(4) / 4).max() < 0.02


def test_theta_star_of_a_seed_is_its_own():
    env = Sin4()
    np.testing.assert_array_equal(env.theta_star((2, 8, 5))[1], env.theta_star((8,))[0])


LAWS = [
    {},
    {"gamma": 0.4, "noise_std": 0.3},
    {"gamma": 0.6, "amplitude": 2.0, "clip": False},
    {"drift_weight": 0.0, "noise_std": 0.0},
    {"features": 1, "items": 2},
    {"gamma": 0.0},
]


@pytest.mark.parametrize("settings", some_of(LAWS, 3), ids=str)
def test_fresh_costs_are_conditional_means(settings):
    """E[c | x] for a few x, against 200 000 draws of the drift and of the noise.

    The table is coarse where x is close to 0, which happens with a single feature.
    """
    env = Sin4(**{"items": 4, "features": 3, **settings})
    coarse = 1e-2 if env.features == 1 else 2e-3
    X, costs = (values[0] for values in env.fresh((7,), 0, 6))
    rng = np.random.default_rng(0)
    zeta, noise = rng.normal(size=(env.features, 200_000)), rng.normal(size=200_000)
    mean = (1 - env.drift_weight) * env.theta_star((7,))[0]
    for n, k in np.ndindex(costs.shape):
        signal = X[n, k] @ (mean[:, None] + env.drift_weight * zeta)
        wave = env.gamma * env.amplitude * np.sin(0.5 / signal) ** 4
        cost = (1 - env.gamma) * signal + wave + env.noise_std * noise
        cost = np.clip(cost, 0, 1) if env.clip else cost
        error = cost.std() / 200_000**0.5
        assert abs(costs[n, k] - cost.mean()) < 5 * error + coarse * max(1.0, cost.std())


def test_every_second_fresh_round_is_a_mirror_image():
    X, costs = Sin4(items=4, features=3).fresh((1,), 0, 10)
    np.testing.assert_array_equal(X[:, ::2], -X[:, 1::2])
    np.testing.assert_allclose(costs[:, ::2], costs[:, 1::2], atol=1e-3)  # γ = 1: even in X


# ---- worlds that are hard to learn from ----


def test_positive_features_are_absolute_values():
    plain, positive = (
        Sin4(features_law=law).rounds(SEEDS, 5, 30).X for law in ("normal", "positive")
    )
    np.testing.assert_array_equal(positive, np.abs(plain))


def test_student_rows_are_normal_rows_over_a_chi():
    """Each row is scaled as a whole; 3/scale² is χ² with 3 degrees of freedom: mean 3, variance 6."""
    plain, heavy = (
        Sin4(features_law=law).rounds(SEEDS, 0, 2000).X for law in ("normal", "student")
    )
    scale = heavy / plain
    np.testing.assert_allclose(scale, scale[..., :1] * np.ones(10), rtol=1e-12)
    chi = 3 / scale[..., 0] ** 2
    assert abs(chi.mean() - 3) < 5 * np.sqrt(6 / chi.size)
    assert abs(chi.var() - 6) < 0.5


@pytest.mark.parametrize("condition", [1.0, 900.0])
def test_the_condition_number_of_the_features(condition):
    env = Sin4(items=2, features=4, rho=0.0, condition=condition)
    rows = env.rounds((7,), 0, 40_000).X.reshape(-1, 4)
    variances = np.linalg.eigvalsh(rows.T @ rows / len(rows))
    assert variances[-1] / variances[0] == pytest.approx(condition, rel=0.1)
    assert variances.mean() == pytest.approx(1.0, rel=0.03)


def test_the_reversing_link_by_hand():
    """‖θ*‖ = 1: the signal itself up to √2, and −2 times the signal beyond."""
    plain = {"amplitude": 1.0, "clip": False, "noise_std": 0, "drift_weight": 0}
    env = Sin4(theta_star_norm=1.0, link="reversing", **plain)
    X, costs = env.rounds(SEEDS, 0, 200)
    signal = np.einsum("sbkp,sp->sbk", X, env.theta_star(SEEDS))
    assert (abs(signal) > np.sqrt(2)).any()
    expected = [s if abs(s) <= np.sqrt(2) else -2 * s for s in signal.ravel()]
    np.testing.assert_allclose(costs.ravel(), expected, rtol=1e-12, atol=1e-12)
