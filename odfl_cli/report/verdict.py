"""The verdict in words: who leads, by how much, and what is not distinguishable."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from odfl_cli.core.statistics import mean_ci95, paired_differences, student_quantile
from odfl_cli.core.text import plus_minus, two_digits

POWER = 0.8416  # quantile of the normal law: four repetitions in five would decide
MOST_SEEDS = 10_000
FOUR_DIGITS = two_digits(math.nan)


class Contestant(NamedTuple):
    """An algorithm in one comparison with the settings that did best there."""

    name: str
    values: Mapping[int, float]  # the final value by seed; less is better
    settings: int = 1  # how many were tried


class Gap(NamedTuple):
    """The mean of paired differences, half its 95% interval (NaN: one seed), and their spread."""

    mean: float
    ci95: float
    seeds: int
    spread: float

    @property
    def is_decided(self) -> bool:
        """Whether the interval leaves out 0."""
        return abs(self.mean) > self.ci95

    @property
    def needed(self) -> int | None:
        """Seeds that would probably decide the sign; None for more than anyone would run."""
        if math.isnan(self.spread) or self.mean == 0:
            return None
        seeds = 2.0
        for _ in range(20):  # the quantile hardly changes beyond 200 seeds
            quantile = student_quantile(min(200, max(1, math.ceil(seeds) - 1)))
            seeds = max(2.0, ((quantile + POWER) * self.spread / abs(self.mean)) ** 2)
        return _two_digits(seeds) if seeds <= MOST_SEEDS else None


def paired(first: Mapping[int, float], second: Mapping[int, float]) -> Gap | None:
    """first − second over the seeds that both have."""
    gaps = np.array(list(paired_differences(first, second).values()))
    if not len(gaps):
        return None
    mean, ci95 = map(float, mean_ci95(gaps))
    spread = float(gaps.std(ddof=1)) if len(gaps) > 1 else math.nan
    return Gap(mean, ci95, len(gaps), spread)


def ranked(contestants: Sequence[Contestant]) -> list[Contestant]:
    """Least mean first."""
    return sorted(contestants, key=lambda one: float(np.mean(list(one.values.values()))))


def describe(contestants: Sequence[Contestant], what: str) -> list[str]:
    """Sentences on one comparison; `what` is measured, less is better."""
    if not contestants:
        return ["Only reference policies were run: there is nobody to compare."]
    leader, *others = ranked(contestants)
    mean = float(np.mean(list(leader.values.values())))
    opening = f"{_named(leader)} has the lowest {what}, {FOUR_DIGITS(mean)}"
    if not others:
        return [f"{opening}, and is the only algorithm here."]
    gaps = [(one, paired(one.values, leader.values)) for one in others]
    decided = [(one, gap) for one, gap in gaps if gap is not None and gap.is_decided]
    open_ones = [(one, gap) for one, gap in gaps if gap is not None and not gap.is_decided]
    sentences = [f"{opening}."]
    if decided:
        sentences.append(_ahead(leader, *decided[0], len(decided), len(others)))
    if open_ones:
        rivals = "; ".join(_undecided(one, gap) for one, gap in open_ones)
        sentences.append(f"Not distinguishable from {leader.name}: {rivals}.")
    unpaired = [one.name for one, gap in gaps if gap is None]
    if unpaired:
        sentences.append(f"No seed in common with {', '.join(unpaired)}.")
    return sentences


def _ahead(leader: Contestant, rival: Contestant, gap: Gap, decided: int, others: int) -> str:
    by = f"by {_plus_minus(gap)} over {_seeds(gap.seeds)}"
    if decided == 1:
        return f"{leader.name} is ahead of {rival.name} {by}."
    whom = f"all {others} others" if decided == others else f"{decided} of {others} others"
    return f"{leader.name} is ahead of {whom}, of the nearest of them, {rival.name}, {by}."


def _undecided(rival: Contestant, gap: Gap) -> str:
    if math.isnan(gap.ci95):
        return f"{rival.name}, {FOUR_DIGITS(gap.mean)} apart on one seed, which has no interval"
    line = f"{rival.name}, {_plus_minus(gap)} apart over {_seeds(gap.seeds)}"
    if gap.mean == 0:
        return f"{line} (equal on average)"
    if gap.needed is None:
        return f"{line} (more than {MOST_SEEDS:,} seeds would be needed to decide it)"
    return f"{line} (about {gap.needed:,} seeds would probably decide it)"


def leader_of(contestants: Sequence[Contestant]) -> str | None:
    """The algorithm whose lead over every other one is decided; None if there is none."""
    if len(contestants) < 2:
        return None
    leader, *others = ranked(contestants)
    gaps = [paired(one.values, leader.values) for one in others]
    return leader.name if all(gap is not None and gap.is_decided for gap in gaps) else None


def headline(leaders: Sequence[str | None]) -> str:
    """One sentence on several comparisons, given who leads each."""
    counts = Counter(leader for leader in leaders if leader is not None)
    of = f"{len(leaders)} comparisons"
    if not counts:
        return f"In none of the {of} is one algorithm clearly ahead of all others."
    parts = [f"{name} in {count}" for name, count in counts.most_common()]
    undecided = len(leaders) - counts.total()
    rest = f"; in {undecided} nobody is" if undecided else ""
    return f"Of {of}, clearly ahead of all others: {', '.join(parts)}{rest}."


def _two_digits(number: float) -> int:
    """Rounded up to two digits."""
    unit = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return unit * math.ceil(number / unit)


def _named(one: Contestant) -> str:
    return (
        one.name if one.settings == 1 else f"{one.name} (the best of its {one.settings} settings)"
    )


def _seeds(count: int) -> str:
    return "1 seed" if count == 1 else f"{count} seeds"


def _plus_minus(gap: Gap) -> str:
    return plus_minus(gap.mean, gap.ci95, two_digits(gap.ci95))
