"""The interval is Student's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from odfl_cli.core.statistics import mean_ci95


@given(count=st.integers(2, 60) | st.just(20_000), seed=st.integers(0, 1000))
def test_equals_scipys_interval(count, seed):
    samples = np.random.default_rng(seed).normal(3, 2, size=count)
    mean, half = mean_ci95(samples)
    low, high = stats.t.interval(0.95, count - 1, loc=samples.mean(), scale=stats.sem(samples))
    assert mean - half == pytest.approx(low, rel=1e-10)
    assert mean + half == pytest.approx(high, rel=1e-10)


@pytest.mark.parametrize("axis", [0, 1])
def test_column_by_column_along_an_axis(axis):
    samples = np.random.default_rng(0).random((7, 7))
    mean, half = mean_ci95(samples, axis=axis)
    for i in range(7):
        one = mean_ci95(np.take(samples, i, axis=1 - axis))
        assert (mean[i], half[i]) == pytest.approx(one)


def test_one_sample_has_no_interval():
    mean, half = mean_ci95(np.array([[0.3, 0.4]]))
    assert mean.tolist() == [0.3, 0.4]
    assert np.isnan(half).all()


def test_equal_samples_have_no_width():
    mean, half = mean_ci95(np.full(4, 0.5))
    assert (mean, half) == (0.5, 0.0)
