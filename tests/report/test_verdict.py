"""Who is ahead, in words and numbers worked out by hand."""

import math

import numpy as np
import pytest
from scipy import stats

from odfl_cli.report.verdict import Contestant, describe, headline, leader_of, paired

GOOD = Contestant("Good", {0: 1.0, 1: 2.0, 2: 3.0})
BAD = Contestant("Bad", {0: 2.0, 1: 3.1, 2: 3.9})  # behind by 1, 1.1 and 0.9
NEAR = Contestant("Near", {0: 1.5, 1: 1.6, 2: 3.3})  # behind by 0.5, −0.4 and 0.3


def test_a_gap_is_paired_over_shared_seeds() -> None:
    gap = paired({0: 5.0, 1: 7.0, 9: 100.0}, {0: 1.0, 1: 1.0, 4: -100.0})
    assert gap is not None
    assert (gap.mean, gap.seeds) == (5.0, 2)
    assert gap.ci95 == pytest.approx(stats.t.ppf(0.975, 1) * math.sqrt(2) / math.sqrt(2))
    assert paired({0: 1.0}, {1: 1.0}) is None


def test_ahead_means_an_interval_without_zero() -> None:
    lines = " ".join(describe([BAD, GOOD, NEAR], "average cost"))
    half = stats.t.ppf(0.975, 2) * 0.1 / math.sqrt(3)
    assert lines.startswith("Good has the lowest average cost, 2.")
    assert f"Good is ahead of Bad by 1.00 ± {half:.2f} over 3 seeds." in lines
    assert "Not distinguishable from Good: Near, 0.1 ±" in lines
    assert leader_of([BAD, GOOD]) == "Good"
    assert leader_of([BAD, GOOD, NEAR]) is None


def test_the_seeds_needed_would_decide_four_times_in_five() -> None:
    """Against simulation: the share of repetitions whose interval leaves out 0."""
    rng = np.random.default_rng(0)
    gaps = dict(enumerate(rng.normal(size=4000)))
    gap = paired({seed: 0.5 + value for seed, value in gaps.items()}, dict.fromkeys(gaps, 0.0))
    assert gap is not None
    assert gap.needed is not None
    samples = rng.normal(gap.mean, gap.spread, size=(4000, gap.needed))
    half = stats.t.ppf(0.975, gap.needed - 1) * samples.std(axis=1, ddof=1)
    share = (np.abs(samples.mean(axis=1)) > half / math.sqrt(gap.needed)).mean()
    assert 0.75 < share < 0.9


def test_more_seeds_than_anyone_would_run_are_not_counted() -> None:
    close = Contestant("Close", {0: 1.0001, 1: 1.9999, 2: 3.000001})
    assert "more than 10,000 seeds would be needed" in " ".join(describe([GOOD, close], "cost"))


def test_one_seed_and_equals_decide_nothing() -> None:
    one = [Contestant("A", {0: 1.0}), Contestant("B", {0: 2.0})]
    assert "one seed, which has no interval" in " ".join(describe(one, "cost"))
    assert leader_of(one) is None
    same = Contestant("Same", dict(GOOD.values))
    assert "(equal on average)" in " ".join(describe([GOOD, same], "cost"))


def test_several_worlds_in_one_sentence() -> None:
    assert headline(["A", "A", None, "B"]) == (
        "Of 4 comparisons, clearly ahead of all others: A in 2, B in 1; in 1 nobody is."
    )
    assert headline([None, None]).startswith("In none of the 2")
