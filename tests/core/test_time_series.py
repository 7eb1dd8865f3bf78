"""Intervals of the mean of one path: coverage in simulation, closed forms, the rule for blocks."""

import math

import numpy as np
import pytest

from odfl_cli.core.statistics import student_quantile
from odfl_cli.core.time_series import autocovariances, block_length, path_mean


def autoregressive(rho: float, paths: int, rounds: int, seed: int) -> np.ndarray:
    """Stationary AR(1) paths with mean 0 and normal noise, [paths, rounds]."""
    noise = np.random.default_rng(seed).normal(size=(rounds, paths))
    found = np.empty_like(noise)
    found[0] = noise[0] / math.sqrt(1.0 - rho**2)
    for t in range(1, rounds):
        found[t] = rho * found[t - 1] + noise[t]
    return found.T


@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.5, 0.8])
def test_coverage_is_near_95_percent_whatever_the_autocorrelation(rho):
    """The means of 500 paths of 600 rounds; independent rounds would cover 0.49 of them at ρ = 0.8."""
    found = [path_mean(path) for path in autoregressive(rho, 500, 600, seed=5)]
    assert 0.9 <= np.mean([abs(one.mean) <= one.ci95 for one in found]) <= 0.98


def test_taking_rounds_as_independent_would_not_do():
    found = [path_mean(path, block=1) for path in autoregressive(0.8, 500, 600, seed=5)]
    assert np.mean([abs(one.mean) <= one.ci95 for one in found]) < 0.7


def test_the_closed_form_is_what_resampling_blocks_gives():
    path, block = autoregressive(0.6, 1, 240, seed=1)[0], 12
    rng = np.random.default_rng(2)
    starts = rng.integers(0, 240 - block + 1, (20_000, 240 // block))
    drawn = path[starts[..., None] + np.arange(block)].mean(axis=(1, 2))
    blocks = np.convolve(path, np.ones(block) / block, "valid")
    spread = math.sqrt(drawn.var() + (blocks.mean() - path.mean()) ** 2 * block / 240)
    expected = student_quantile(19) * spread / math.sqrt(1 - block / 240)
    assert path_mean(path, block).ci95 == pytest.approx(expected, rel=0.02)


def test_blocks_of_one_round_give_students_interval():
    path = np.random.default_rng(3).normal(size=50)
    half = student_quantile(49) * path.std(ddof=1) / math.sqrt(50)
    assert path_mean(path, block=1).ci95 == pytest.approx(half)


def test_the_rule_finds_the_length_that_the_true_autocovariances_give():
    """AR(1) with R_k = ρ^k: G = 2ρ/(1−ρ)² and D = 4/3 ((1+ρ)/(1−ρ))², so that b = (6ρ²/(1−ρ²)² T)^(1/3)."""
    rho, rounds = 0.6, 4000
    best = (6.0 * rho**2 / (1.0 - rho**2) ** 2 * rounds) ** (1 / 3)
    chosen = [block_length(path) for path in autoregressive(rho, 40, rounds, seed=4)]
    assert np.median(chosen) == pytest.approx(best, rel=0.25)


def test_blocks_grow_with_autocorrelation_and_stay_below_a_third():
    lengths = [block_length(autoregressive(rho, 1, 900, seed=6)[0]) for rho in (0.0, 0.5, 0.9)]
    assert lengths == sorted(lengths)
    assert lengths[0] <= 5
    assert block_length(np.arange(90.0)) <= 30  # a trend: never more than a third
    assert block_length(np.ones(90)) == 1


def test_autocovariances_of_a_short_path_by_hand():
    np.testing.assert_allclose(
        autocovariances(np.array([1.0, 2.0, 3.0, 2.0]), 2), [0.5, 0.0, -0.25]
    )


def test_a_short_path_has_a_mean_and_no_interval():
    short = path_mean(np.arange(15.0))
    assert short.mean == 7.0
    assert math.isnan(short.ci95)
    with pytest.raises(ValueError, match="at most a third"):
        path_mean(np.arange(30.0), block=11)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_path_that_is_not_finite_has_no_interval(value: float) -> None:
    path = np.append(np.arange(99.0), value)
    with np.errstate(invalid="ignore"):
        assert block_length(path) == 1
        assert math.isnan(path_mean(path).ci95)
