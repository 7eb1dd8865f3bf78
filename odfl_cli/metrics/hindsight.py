"""The best fixed θ on the rounds that were played."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from odfl_cli.environments import Environment, Rounds
from odfl_cli.metrics.comparators import find_comparator
from odfl_cli.metrics.expected import random_directions, spread_out
from odfl_cli.metrics.losses import Losses

KEPT_BYTES = 512 * 2**20
BLOCK = 1024
RATIO, SHORTEST = 4, 64
"""Comparators are searched for the first T, T/4, T/16, … rounds, down to so many."""


class PlayedRounds:
    """All rounds of a run, or every k-th where all would take too much memory.

    What was not kept is drawn from the environment again.
    """

    def __init__(self, environment: Environment, seeds: tuple[int, ...], rounds: int) -> None:
        items, features = environment.items, environment.features
        per_round = 8 * len(seeds) * items * (features + 1)
        self._environment, self._seeds, self._rounds = environment, seeds, rounds
        self._stride = max(1, -(-rounds * per_round // KEPT_BYTES))
        kept = -(-rounds // self._stride)
        self._X = np.empty((len(seeds), kept, items, features))
        self._costs = np.empty((len(seeds), kept, items))

    def add(self, start: int, rounds: Rounds) -> None:
        """Keeps what it wants of the block that starts at round `start` (from 0)."""
        skipped = -start % self._stride
        X = rounds.X[:, skipped :: self._stride]
        first = (start + skipped) // self._stride
        self._X[:, first : first + X.shape[1]] = X
        self._costs[:, first : first + X.shape[1]] = rounds.costs[:, skipped :: self._stride]

    def kept(self, row: int, stop: int) -> Rounds:
        """What was kept of the first `stop` rounds of seed number `row`."""
        count = -(-stop // self._stride)
        return Rounds(self._X[row, :count], self._costs[row, :count])

    def blocks(self, row: int) -> Iterator[Rounds]:
        """All rounds of seed number `row`, in order."""
        if self._stride == 1:
            yield self.kept(row, self._rounds)
            return
        for start in range(0, self._rounds, BLOCK):
            stop = min(start + BLOCK, self._rounds)
            X, costs = self._environment.rounds((self._seeds[row],), start, stop)
            yield Rounds(np.ascontiguousarray(X[0]), np.ascontiguousarray(costs[0]))


@dataclass(frozen=True)
class Hindsight:
    """The realised side of one seed, at the evaluation rounds [E]."""

    best_fixed: np.ndarray  # min_θ Σ_{s≤t} f_s(θ)
    best_pieces: np.ndarray  # the same with another θ between any two evaluation rounds
    uncertainty: float  # of the best fixed average over all rounds


def in_hindsight(
    losses: Losses,
    played: PlayedRounds,
    row: int,
    seed: int,
    t: np.ndarray,
    near: np.ndarray,
    starts: int,
) -> Hindsight:
    """From a pool of parameters, each scored on every round; `near` [C, m] are good guesses."""
    directions = random_directions(losses, seed, starts)
    horizons = [int(t[-1])]
    while horizons[-1] // RATIO >= SHORTEST:
        horizons.append(horizons[-1] // RATIO)
    pool, uncertainty = near, []
    for stop in horizons:
        from_here = np.concatenate([spread_out(pool, 6), directions])
        found = find_comparator(losses, played.kept(row, stop), from_here)
        pool = np.concatenate([pool, found.finalists])
        uncertainty.append(found.uncertainty)
    sums = np.zeros((len(pool), len(t)))
    start, total = 0, np.zeros((len(pool), 1))
    for rounds in played.blocks(row):
        cumulative = total + np.cumsum(losses.paid(pool, rounds), axis=-1)
        stop = start + cumulative.shape[1]
        here = (t > start) & (t <= stop)
        sums[:, here] = cumulative[:, t[here] - start - 1]
        start, total = stop, cumulative[:, -1:]
    pieces = np.diff(sums, axis=-1, prepend=0.0).min(0)
    return Hindsight(sums.min(0), np.cumsum(pieces), uncertainty[0])
