"""What all drawn data share: random access, covariates that ignore the costs, fresh samples, refusals."""

import math

import numpy as np
import pytest
from pydantic import ValidationError

from odfl_cli.environments.polynomial import Polynomial
from odfl_cli.environments.sin4 import Sin4

HARD = [
    {"features_law": "positive"},
    {"features_law": "student"},
    {"condition": 900.0},
    {"link": "reversing", "amplitude": 1.0, "clip": False},
]


@pytest.mark.parametrize(
    "env",
    [Sin4(items=80), Polynomial(items=80, features=10, drift_weight=0.5)]
    + [Sin4(items=9, features=33), Polynomial(items=2, features=1, random_signs=True)]
    + [Sin4(**settings) for settings in HARD],
    ids=str,
)
def test_random_access_across_the_blocks_of_the_streams(env):
    """80 × 10 covariates come in blocks of 16 rounds, noise of 128, drift of 256: all end at 1024."""
    whole, part = env.rounds((4, 9), 0, 1040), env.rounds((9,), 1020, 1030)
    for ours, theirs in zip(part, whole, strict=True):
        np.testing.assert_array_equal(ours[0], theirs[1, 1020:1030])


@pytest.mark.parametrize(
    ("plain", "other"),
    [
        (Sin4(), Sin4(gamma=0.2, amplitude=1.0, clip=False, noise_std=0.0, drift_weight=1)),
        (Polynomial(), Polynomial(degree=1, noise_width=0, drift_weight=1, random_signs=True)),
    ],
)
def test_covariates_do_not_depend_on_the_cost_settings(plain, other):
    np.testing.assert_array_equal(plain.rounds((0, 3), 0, 9).X, other.rounds((0, 3), 0, 9).X)


@pytest.mark.parametrize("env", [Sin4(items=4, features=3), Polynomial(items=6, features=4)])
def test_fresh_rounds_are_the_same_alone_for_all_rounds_and_in_any_number(env):
    many = env.fresh((2, 7), 0, 50)
    for alone in (env.fresh((7,), 0, 50), env.fresh((7,), 400, 50), env.fresh((7,), 0, 31)):
        for one, other in zip(alone, many, strict=True):
            np.testing.assert_array_equal(one[0], other[1, : one.shape[1]])
    assert env.stationary
    drawn = env.rounds((2, 7), 0, 50).X
    assert not np.isin(many.X[many.X % 1 != 0], drawn).any()  # pattern and intercept are 0 and 1


@pytest.mark.parametrize("settings", [{}, {"gamma": 0.4, "noise_std": 0.3}, {"clip": False}, *HARD])
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


REFUSED = [  # of Polynomial; tests/config/test_schema.py has those of Sin4
    ("items", 1), ("items", 2.5), ("features", 0), ("features", "five"), ("degree", 0),
    ("degree", 1.5), ("degree", True), ("degree", 101), ("noise_width", -0.1), ("noise_width", 1),
    ("noise_width", math.nan), ("drift_weight", 1.5), ("drift_weight", -0.5),
    ("intercept", "perhaps"), ("maximise", 3), ("random_signs", "some"), ("sign", -1),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value"), REFUSED)
def test_bad_values_are_refused(key, value):
    with pytest.raises(ValidationError, match=key):
        Polynomial(**{key: value})
