"""Decisions that may be awaited: the error is that of one test, however often one looks."""

import math

import numpy as np
import pytest
from support.samples import some_of

from odfl_cli.core.statistics import TIGHTEST, always_valid, decide, mean_ci95

LOOKS = [50, 63, 79, 99, 124, 155, 194, 243, 304, 380, 475, 594]
LAWS = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "t5": lambda rng, size: rng.standard_t(5, size),
    "skewed": lambda rng, size: rng.exponential(size=size) - 1,
}


def test_the_width_is_the_formula_of_the_paper():
    """Waudby-Smith et al.: σ √(2 (tρ² + 1) / (t²ρ²) · ln(√(tρ² + 1) / a)), by hand for t = 200."""
    rho2 = (-2 * math.log(0.05) + math.log(-2 * math.log(0.05)) + 1) / TIGHTEST
    assert rho2 == pytest.approx(8.7816 / 200, rel=1e-4)
    assert always_valid(2.0, 200, 0.05) == pytest.approx(2 * 3.0354 / math.sqrt(200), rel=1e-4)
    ratios = [always_valid(1.0, t, 0.05) * math.sqrt(t) for t in (20, 100, 200, 400, 4000)]
    assert min(ratios) == ratios[2]


@pytest.mark.parametrize("law", some_of(list(LAWS), 1))
def test_equal_pairs_are_told_apart_in_at_most_one_of_twenty(law):
    """1,000 pairs without a difference; a plain interval at the same looks errs in a fifth of them."""
    draws = LAWS[law](np.random.default_rng([32, len(law)]), (1000, LOOKS[-1]))
    found = [decide(row, LOOKS, margin=0.0, error=0.05).verdict for row in draws]
    wrong = sum(verdict != "undecided" for verdict in found)
    assert wrong <= 50 + 2 * math.sqrt(50)
    plain = np.array([abs(m) > c for m, c in (mean_ci95(draws[:, :n], axis=1) for n in LOOKS)])
    assert plain.any(axis=0).sum() > 120


def test_a_difference_is_found_and_its_sign():
    draws = np.random.default_rng(5).standard_normal(594)
    less, more = (decide(draws + shift, LOOKS, 0.0, 0.05) for shift in (-0.5, 0.5))
    assert (less.verdict, more.verdict) == ("less", "more")
    assert less.seeds < 594
    assert abs(less.mean) > less.half


def test_the_first_look_that_decides_counts():
    """The decision ends there: later looks do not change it."""
    values = [1.0 + 0.1 * (-1) ** k for k in range(50)] + [-9.0 + (-1) ** k for k in range(544)]
    assert decide(values, LOOKS, 0.0, 0.05)[:2] == ("more", 50)


def test_equal_within_the_margin_and_the_estimate_of_what_is_missing():
    rng = np.random.default_rng(6)
    found = decide(rng.standard_normal(594), LOOKS, 0.5, 0.05)
    assert found.verdict == "equal"
    open_ = decide(rng.standard_normal(50), LOOKS[:1], 0.1, 0.05)
    assert open_.verdict == "undecided"
    needed = open_.seeds + open_.more
    room = max(abs(open_.mean), 0.1 - abs(open_.mean))
    deviation = open_.half / always_valid(1.0, 50, 0.05)
    assert always_valid(deviation, needed, 0.05) < room <= always_valid(deviation, needed - 1, 0.05)
    assert decide(50 * [0.0], [50], 0.0, 0.05).verdict == "equal"  # the same runs
