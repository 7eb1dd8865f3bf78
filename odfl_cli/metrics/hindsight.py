"""The best fixed θ on the rounds that were played."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from odfl_cli.environments.base import Environment, Rounds, shape_of
from odfl_cli.metrics.losses import Losses
from odfl_cli.metrics.search import Effort, prepare, uncertainty_of

MEMORY_BYTES = 512 * 2**20
BLOCK = 1024
MAX_PREDICTIONS = 200_000
"""The most predictions of a seed that a search uses, evenly over its rounds."""

PREFIX_RATIO, MIN_PREFIX, PREFIX_REPEATS = 8, 64, 2
"""Comparators are searched for the first T, T/8, T/64, … rounds, down to MIN_PREFIX; the shorter ones twice."""


class PlayedRounds:
    """The rounds of a run, to score parameters on; what memory cannot hold is drawn again.

    To search on, every k-th round is kept, with k = 1 unless one seed alone exceeds the memory.
    k does not depend on the number of seeds, so that a seed's numbers do not either.
    """

    def __init__(self, environment: Environment, seeds: tuple[int, ...], rounds: int) -> None:
        seed_bytes = 8 * rounds * (math.prod(shape_of(environment)) + environment.items)
        self.seeds, self._environment, self._rounds = seeds, environment, rounds
        self._fits = len(seeds) * seed_bytes <= MEMORY_BYTES
        self._all: list[Rounds] = []
        self._thinned: list[Rounds] = []
        self._stride = max(1, -(-seed_bytes // MEMORY_BYTES))

    def add(self, start: int, rounds: Rounds) -> None:
        """Takes the block that starts at round `start` (from 0)."""
        part = slice(-start % self._stride, None, self._stride)
        thinned = Rounds(rounds.X[:, part], rounds.costs[:, part])
        if self._fits:
            self._all.append(rounds)
        else:
            thinned = Rounds(*(values.copy() for values in thinned))
        self._thinned.append(thinned)

    def subset(self, row: int, stop: int, most: int) -> Rounds:
        """At most `most` of the first `stop` rounds of seed number `row`, evenly spaced."""
        count, first, parts = -(-stop // self._stride), 0, []
        every = -(-count // most)
        for X, costs in self._thinned:
            if first >= count:
                break
            part = slice(-first % every, count - first, every)
            parts.append((X[row, part], costs[row, part]))
            first += costs.shape[1]
        if len(parts) == 1:  # without a copy, if it is in one piece
            return Rounds(*map(np.ascontiguousarray, *parts))
        return Rounds(*map(np.concatenate, zip(*parts, strict=True)))

    def blocks(self, row: int) -> Iterator[Rounds]:
        """Every round of seed number `row`, in blocks."""
        if self._fits:
            yield from (Rounds(X[row], costs[row]) for X, costs in self._all)
            return
        for start in range(0, self._rounds, BLOCK):
            stop = min(start + BLOCK, self._rounds)
            block = self._environment.rounds((self.seeds[row],), start, stop)
            yield Rounds(*(np.require(values[0], np.float64, ["C", "W"]) for values in block))


@dataclass(frozen=True)
class Hindsight:
    """Costs on the realised rounds of one seed, at the evaluation rounds [E]."""

    best_fixed: np.ndarray  # min_θ Σ_{s≤t} f_s(θ)
    best_pieces: np.ndarray  # the same with another θ between any two evaluation rounds
    uncertainty: float  # of the best fixed average over all rounds


def measure_hindsight(
    losses: Losses,
    played: PlayedRounds,
    row: int,
    t: np.ndarray,
    near: np.ndarray,
    fallback: np.ndarray,
    effort: Effort,
) -> Hindsight:
    """The best of a pool of parameters, each scored on every round of seed number `row`.

    Searches use the good guesses `near` [C, m]; `fallback` [C', m] is scored alone.
    """
    T, most = int(t[-1]), max(1, MAX_PREDICTIONS // losses.problem.items)
    rounds = played.subset(row, T, most)
    search = prepare(losses, rounds, played.seeds[row], effort)
    guesses = np.concatenate([near, search.suggested])
    pool = np.concatenate([search.run(rounds, guesses, effort.repeats), guesses])
    repeat, stop = np.arange(len(pool)) % effort.repeats, T // PREFIX_RATIO
    while stop >= MIN_PREFIX:  # no uncertainty is reported of the shorter ones
        found = search.run(played.subset(row, stop, most), pool, PREFIX_REPEATS)
        pool, stop = np.concatenate([pool, found]), stop // PREFIX_RATIO
    sums = losses.totals(np.concatenate([pool, fallback]), played.blocks(row), t)
    pieces = np.diff(sums, axis=-1, prepend=0.0).min(0)
    values = [(sums[: len(repeat), -1][repeat == r] / T).min() for r in range(effort.repeats)]
    one_round = float(np.ptp(rounds.costs)) / T
    uncertainty = max(one_round, uncertainty_of(np.array(values)))
    return Hindsight(sums.min(0), np.cumsum(pieces), uncertainty)
