"""The best fixed θ on the rounds that were played."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from odfl_cli.environments.base import Environment, Rounds, shape_of
from odfl_cli.metrics.losses import Losses
from odfl_cli.metrics.search import Effort, search

KEPT_BYTES = 512 * 2**20
BLOCK = 1024
GUESSES, FINALISTS = 2, 2
"""How many known parameters a search starts from, and how many that it finds are scored."""

RATIO, SHORTEST, FEWEST = 8, 64, 2
"""Comparators are searched for the first T, T/8, T/64, … rounds, down to so many, the shorter ones twice."""


class PlayedRounds:
    """The rounds of a run, to score parameters on; what memory cannot hold is drawn again.

    To search on, every k-th round is kept apart, with k = 1 unless one seed alone exceeds the memory.
    k does not depend on the number of seeds, so that a seed's numbers do not either.
    """

    def __init__(self, environment: Environment, seeds: tuple[int, ...], rounds: int) -> None:
        of_a_seed = 8 * rounds * (math.prod(shape_of(environment)) + environment.items)
        self.seeds = seeds
        self._environment, self._rounds = environment, rounds
        self._fit = len(seeds) * of_a_seed <= KEPT_BYTES
        self._kept: list[Rounds] = []
        self._aside: list[Rounds] = []
        self._stride = max(1, -(-of_a_seed // KEPT_BYTES))

    def add(self, start: int, rounds: Rounds) -> None:
        """Takes the block that starts at round `start` (from 0)."""
        part = slice(-start % self._stride, None, self._stride)
        X, costs = rounds.X[:, part], rounds.costs[:, part]
        if self._fit:
            self._kept.append(rounds)
            self._aside.append(Rounds(X, costs))
        else:
            self._aside.append(Rounds(X.copy(), costs.copy()))

    def to_search(self, row: int) -> Rounds:
        """The rounds of seed number `row` that were kept apart."""
        return Rounds(
            np.concatenate([X[row] for X, _ in self._aside]),
            np.concatenate([costs[row] for _, costs in self._aside]),
        )

    def count_to_search(self, stop: int) -> int:
        """How many of these belong to the first `stop` rounds."""
        return -(-stop // self._stride)

    def evenly(self, row: int, count: int) -> Rounds:
        """At most `count` of these."""
        X, costs = self.to_search(row)
        part = slice(None, None, -(-len(costs) // count))
        return Rounds(X[part], costs[part])

    def all(self, row: int) -> Iterator[Rounds]:
        """Every round of seed number `row`, in blocks."""
        if self._fit:
            yield from (Rounds(X[row], costs[row]) for X, costs in self._kept)
            return
        for start in range(0, self._rounds, BLOCK):
            stop = min(start + BLOCK, self._rounds)
            X, costs = self._environment.rounds((self.seeds[row],), start, stop)
            yield Rounds(np.ascontiguousarray(X[0]), np.ascontiguousarray(costs[0]))


@dataclass(frozen=True)
class Hindsight:
    """Costs on the realised rounds of one seed, at the evaluation rounds [E]."""

    best_fixed: np.ndarray  # min_θ Σ_{s≤t} f_s(θ)
    best_pieces: np.ndarray  # the same with another θ between any two evaluation rounds
    uncertainty: float  # of the best fixed average over all rounds


def in_hindsight(
    losses: Losses,
    played: PlayedRounds,
    row: int,
    t: np.ndarray,
    near: np.ndarray,
    unsearched: np.ndarray,
    effort: Effort,
) -> Hindsight:
    """The best of a pool of parameters, each scored on every round; `near` [C, m] are good guesses.

    `unsearched` [C', m] are scored too, but no search starts from them.
    """
    horizons = [int(t[-1])]
    while horizons[-1] // RATIO >= SHORTEST:
        horizons.append(horizons[-1] // RATIO)
    pool, uncertainty, aside = near, [], played.to_search(row)
    for stop in horizons:
        first = slice(played.count_to_search(stop))
        searched = Rounds(aside.X[first], aside.costs[first])
        found = search(losses, searched, pool[-GUESSES:], played.seeds[row], effort)
        effort = replace(effort, repeats=FEWEST)  # no uncertainty is reported of the shorter ones
        pool = np.concatenate([pool, found.finalists[:FINALISTS][::-1]])
        uncertainty.append(found.uncertainty)
    sums = _cumulative(losses, np.concatenate([pool, unsearched]), played.all(row), t)
    pieces = np.diff(sums, axis=-1, prepend=0.0).min(0)
    return Hindsight(sums.min(0), np.cumsum(pieces), uncertainty[0])


def _cumulative(
    losses: Losses, pool: np.ndarray, blocks: Iterator[Rounds], t: np.ndarray
) -> np.ndarray:
    """Σ_{s≤t} f_s(θ) of every parameter in the pool at rounds t, [C, E]."""
    sums = np.zeros((len(pool), len(t)))
    start, total = 0, np.zeros(len(pool))
    for rounds in blocks:
        paid = losses.paid(pool, rounds)
        paid[:, 0] += total
        cumulative = np.cumsum(paid, axis=-1)
        stop = start + cumulative.shape[1]
        here = (t > start) & (t <= stop)
        sums[:, here] = cumulative[:, t[here] - start - 1]
        start, total = stop, cumulative[:, -1]
    return sums
