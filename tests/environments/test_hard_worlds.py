"""Covariates and links of sin4 that are hard to learn from; the defaults draw what they always drew."""

import numpy as np
import pytest

from odfl_cli.environments import Sin4

SEEDS = (0, 3)
HARD = [
    {"features_law": "positive"},
    {"features_law": "student"},
    {"condition": 900.0},
    {"link": "reversing", "amplitude": 1.0, "clip": False},
]


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
    env = Sin4(
        theta_star_norm=1.0,
        link="reversing",
        amplitude=1.0,
        clip=False,
        noise_std=0,
        drift_weight=0,
    )
    X, costs = env.rounds(SEEDS, 0, 200)
    signal = np.einsum("sbkp,sp->sbk", X, env.theta_star(SEEDS))
    assert (abs(signal) > np.sqrt(2)).any()
    expected = [s if abs(s) <= np.sqrt(2) else -2 * s for s in signal.ravel()]
    np.testing.assert_allclose(costs.ravel(), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("settings", HARD, ids=str)
def test_fresh_rounds_have_the_law_of_the_rounds(settings):
    """Moments that tie the costs to the covariates, on both sides."""
    env, size = Sin4(**{"items": 4, "features": 3, **settings}), 20_000
    moments = []
    for X, costs in (env.fresh((7,), 0, size), env.rounds((7,), 0, size)):
        signal = X[0] @ env.theta_star((7,))[0]
        sample = np.stack([costs[0], costs[0] * np.tanh(signal), costs[0] * (abs(signal) > 1)])
        sample = sample.mean(-1)
        moments.append((sample.mean(-1), sample.std(-1) / size**0.5))
    (fresh, error), (played, noise) = moments
    assert (abs(fresh - played) < 4 * np.hypot(error, noise) + 2e-3).all()


@pytest.mark.parametrize("settings", HARD, ids=str)
def test_a_round_does_not_depend_on_how_it_was_asked_for(settings):
    env = Sin4(**settings)
    together, alone = env.rounds((4, 9), 0, 40), env.rounds((9,), 31, 37)
    np.testing.assert_array_equal(alone.X[0], together.X[1, 31:37])
    np.testing.assert_array_equal(alone.costs[0], together.costs[1, 31:37])
