"""Who is ahead, in words and numbers worked out by hand."""

import math
import re
from types import SimpleNamespace

import pytest
from scipy import stats

from odfl_cli.core.statistics import always_valid
from odfl_cli.report.verdict import describe, headline, leader_of
from odfl_cli.results.leaderboard import Entry, judge

GOOD = {0: 1.0, 1: 2.0, 2: 3.0}
BAD = {0: 2.0, 1: 3.1, 2: 3.9}  # behind by 1, 1.1 and 0.9
NEAR = {0: 1.5, 1: 1.6, 2: 3.3}  # behind by 0.5, −0.4 and 0.3


def rank(**values: dict[int, float]) -> list[Entry]:
    """The algorithms of one problem, the best first."""
    entries = [
        Entry(SimpleNamespace(algorithm=name), {}, {}, by_seed) for name, by_seed in values.items()
    ]
    entries.sort(key=lambda entry: entry.figure["mean"])
    judge(entries)
    return entries


def test_a_gap_is_paired_over_shared_seeds() -> None:
    _, behind = rank(first={0: 1.0, 1: 1.0, 4: -100.0}, second={0: 5.0, 1: 7.0, 9: 100.0})
    assert behind.behind is not None
    seeds, gap = behind.behind
    assert (gap["mean"], seeds) == (5.0, 2)
    assert gap["ci95"] == pytest.approx(stats.t.ppf(0.975, 1) * math.sqrt(2) / math.sqrt(2))
    assert rank(a={0: 1.0}, b={1: 1.0})[1].behind is None


def test_ahead_means_an_interval_without_zero() -> None:
    lines = " ".join(describe(rank(bad=BAD, good=GOOD, near=NEAR), "average cost"))
    half = stats.t.ppf(0.975, 2) * 0.1 / math.sqrt(3)
    assert lines.startswith("Good has the lowest average cost, 2.")
    assert f"Good is ahead of Bad by 1.00 ± {half:.2f} over 3 seeds." in lines
    assert "Not distinguishable from Good: Near, 0.1 ±" in lines
    assert leader_of(rank(bad=BAD, good=GOOD)) == "Good"
    assert leader_of(rank(bad=BAD, good=GOOD, near=NEAR)) is None


def test_the_seeds_needed_are_those_of_an_interval_that_holds_for_all_counts() -> None:
    """Differences of 0.5 ± 1: looked at after so many seeds, the interval just leaves out 0."""
    signs = {seed: (-1.0) ** seed for seed in range(10)}
    entries = rank(
        good=dict.fromkeys(signs, 1.0), near={s: 1.5 + sign for s, sign in signs.items()}
    )
    (text,) = re.findall(
        r"until=decided needs about (\d+) seeds", " ".join(describe(entries, "cost"))
    )
    deviation, count = math.sqrt(10 / 9), int(text)
    assert always_valid(deviation, count, 0.05) < 0.5 <= always_valid(deviation, count - 1, 0.05)
    close = rank(good=GOOD, close={0: 1.0001, 1: 1.9999, 2: 3.000001})
    assert "needs more than 10,000 seeds" in " ".join(describe(close, "cost"))


def test_one_seed_and_equals_decide_nothing() -> None:
    one = rank(a={0: 1.0}, b={0: 2.0})
    assert "one seed, which has no interval" in " ".join(describe(one, "cost"))
    assert leader_of(one) is None
    assert "Same, equal on average" in " ".join(describe(rank(good=GOOD, same=dict(GOOD)), "cost"))


def test_several_worlds_in_one_sentence() -> None:
    assert headline(["A", "A", None, "B"]) == (
        "Of 4 comparisons, clearly ahead of all others: A in 2, B in 1; no algorithm in 1."
    )
    assert headline([None, None]).startswith("In none of the 2")
