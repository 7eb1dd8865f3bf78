"""Ranking the jobs of a sweep, and several sweeps side by side."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from odfl_cli.core.errors import UserError
from odfl_cli.core.statistics import Interval, interval, paired_differences
from odfl_cli.core.text import assignments, did_you_mean, plus_minus
from odfl_cli.results.grouping import differing_keys, freeze
from odfl_cli.results.runs import StoredRun


class Over(NamedTuple):
    """How intervals are computed: the values of a run by seed, and the interval of such values."""

    values: Callable[[StoredRun, str], dict[int, Any]]
    interval: Callable[[Iterable[Any]], Interval]


SEEDS = Over(StoredRun.final, interval)


@dataclass(frozen=True)
class Ranked:
    """Jobs that differ only in their seeds."""

    run: StoredRun  # the first of them
    differs: dict[str, Any]
    values: dict[int, Any]  # by seed
    over: Over = SEEDS

    @property
    def figure(self) -> Interval:
        """Mean and interval."""
        return self.over.interval(self.values.values())

    def behind(self, winner: "Ranked") -> tuple[int, Interval] | None:
        """The seeds shared with the winner, and the mean difference to it over them."""
        gaps = paired_differences(self.values, winner.values)
        return (len(gaps), self.over.interval(gaps.values())) if gaps else None


def rank(
    runs: list[StoredRun], column: str, largest: bool = False, over: Over = SEEDS
) -> list[Ranked]:
    """The jobs that have the column, pooled, best first."""
    known = sorted({name for run in runs for name in run.columns})
    if column not in known:
        hint = did_you_mean(column, known, most=2, cutoff=0.5)
        raise UserError(f"--by {column}: no run has such a column; {hint}")
    keys = differing_keys(runs)
    pools: dict[Any, Ranked] = {}
    for run in runs:
        differs = {key: run.settings[key] for key in keys if key in run.settings}
        pool = pools.setdefault((run.algorithm, freeze(differs)), Ranked(run, differs, {}, over))
        pool.values.update(over.values(run, column))
    ranked = [pool for pool in pools.values() if pool.values]
    return sorted(ranked, key=lambda pool: pool.figure["mean"], reverse=largest)


def distinguishing_words(ranked: list[Ranked]) -> list[str]:
    """For each job the overrides that not all jobs share, or the settings in which it differs."""
    typed = [
        [word for word in one.run.overrides if word != f"algo={one.run.algorithm}"]
        for one in ranked
    ]
    shared = set.intersection(*map(set, typed)) if len(ranked) > 1 else set()
    words = [" ".join(word for word in own_words if word not in shared) for own_words in typed]
    names = [(one.run.algorithm, text) for one, text in zip(ranked, words, strict=True)]
    return [
        name[1] or "-" if names.count(name) == 1 else assignments(one.differs)
        for one, name in zip(ranked, names, strict=True)
    ]


def league(sweeps: dict[str, list[Ranked]]) -> list[list[str]]:
    """A table of means with intervals, a row per algorithm; each sweep's best is **bold**.

    Of an algorithm that a sweep has with several settings, its best one counts. Rows are in the
    order of the mean rank over the sweeps that have the algorithm.
    """
    best: dict[str, dict[str, Ranked]] = {name: {} for name in sweeps}
    for name, ranked in sweeps.items():
        for one in ranked:
            best[name].setdefault(one.run.algorithm, one)
    algorithms = {algorithm for ranked in best.values() for algorithm in ranked}
    rows = [["algorithm", *best]]
    for algorithm in sorted(algorithms, key=lambda name: (_mean_rank(name, best), name)):
        rows.append([algorithm, *(_cell(algorithm, ranked) for ranked in best.values())])
    return rows


def _mean_rank(algorithm: str, sweeps: dict[str, dict[str, Ranked]]) -> float:
    places = [
        list(ranked).index(algorithm) / len(ranked)
        for ranked in sweeps.values()
        if algorithm in ranked
    ]
    return sum(places) / len(places)


def _cell(algorithm: str, ranked: dict[str, Ranked]) -> str:
    if algorithm not in ranked:
        return ""
    figure = plus_minus(**ranked[algorithm].figure).replace("-", "−")
    return f"**{figure}**" if algorithm == next(iter(ranked)) else figure
