"""Slopes on logarithmic axes: exact powers, and an interval that covers the truth."""

import numpy as np
import pytest

from odfl_cli.core.statistics import loglog_slope

X = np.geomspace(10, 1e4, 12)


@pytest.mark.parametrize("exponent", [-0.5, -0.25, 0.0, 1.0])
def test_a_power_has_its_exponent_as_slope(exponent):
    levels = np.array([0.5, 1.0, 4.0])[:, None]
    slope, ci95 = loglog_slope(X, levels * X**exponent)
    assert slope == pytest.approx(exponent, abs=1e-12)
    assert ci95 == pytest.approx(0.0, abs=1e-10)


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        slopes = -0.25 + 0.02 * rng.normal(size=(8, 1))
        slope, ci95 = loglog_slope(X, 1e-3 * X**slopes * np.exp(0.05 * rng.normal(size=(8, 12))))
        covered += abs(slope - loglog_slope(X, _mean_law())[0]) <= ci95
    assert 0.9 <= covered / 400 <= 0.99


def _mean_law() -> np.ndarray:
    """E[X^slope] for a Gaussian slope, up to a factor: the curve that many seeds average to."""
    log = np.log(X)
    return np.exp(-0.25 * log + 0.5 * 0.0004 * log**2)[None]


def test_seeds_may_be_negative_where_their_mean_is_not():
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(6, 12)) * X**-0.25
    values = X**-0.25 + noise - noise.mean(axis=0)
    assert (values < 0).any()
    slope, ci95 = loglog_slope(X, values)
    assert slope == pytest.approx(-0.25, abs=1e-12)
    assert ci95 > 0


def test_no_slope_without_a_positive_mean_and_no_interval_from_one_seed():
    assert np.isnan(loglog_slope(X, -np.ones((3, 12)))[0])
    slope, ci95 = loglog_slope(X, X[None] ** -1.0)
    assert slope == pytest.approx(-1.0)
    assert np.isnan(ci95)
