"""The rounds of a run, and the parameters or states of its evaluation rounds."""

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from odfl_cli.algorithms.base import Algorithm, on_problem
from odfl_cli.core.arrays import dot, map_arrays
from odfl_cli.environments.base import Environment, Rounds, shape_of
from odfl_cli.metrics.base import RoundStart
from odfl_cli.metrics.losses import Losses

MEMORY_BYTES = 512 * 2**20  # for the rounds of one seed
BLOCK = 1024


class PlayedRounds:
    """The rounds of a run. If a seed exceeds the memory, every k-th round is kept, and all are drawn again.

    k does not depend on the number of seeds, so that a seed's numbers do not either.
    """

    def __init__(self, environment: Environment, seeds: tuple[int, ...], rounds: int) -> None:
        seed_bytes = 8 * rounds * (math.prod(shape_of(environment)) + environment.items)
        self.seeds, self.environment, self._rounds = seeds, environment, rounds
        self._stride = max(1, -(-seed_bytes // MEMORY_BYTES))
        self._kept: list[Rounds] = []

    def add(self, start: int, rounds: Rounds) -> None:
        """Adds the block that starts at round `start` (from 0)."""
        if self._stride > 1:
            part = slice(-start % self._stride, None, self._stride)
            rounds = Rounds(*(values[:, part].copy() for values in rounds))
        self._kept.append(rounds)

    def subset(self, row: int, stop: int, most: int) -> Rounds:
        """At most `most` of the first `stop` rounds of seed number `row`, evenly spaced."""
        count, first, parts = -(-stop // self._stride), 0, []
        every = -(-count // most)
        for X, costs in self._kept:
            if first >= count:
                break
            part = slice(-first % every, count - first, every)
            parts.append((X[row, part], costs[row, part]))
            first += costs.shape[1]
        return Rounds(*map(np.concatenate, zip(*parts, strict=True)))

    def blocks(self, row: int) -> Iterator[Rounds]:
        """Every round of seed number `row`, in blocks."""
        if self._stride == 1:
            yield from (Rounds(X[row], costs[row]) for X, costs in self._kept)
            return
        for start in range(0, self._rounds, BLOCK):
            stop = min(start + BLOCK, self._rounds)
            block = self.environment.rounds((self.seeds[row],), start, stop)
            yield Rounds(*(np.require(values[0], np.float64, ["C", "W"]) for values in block))


class Plays:
    """The θ_t of the evaluation rounds, and the states if the algorithm overrides `decide`."""

    def __init__(self, algorithm: Algorithm) -> None:
        overrides = type(algorithm).decide is not Algorithm.decide
        self._by_state = overrides or algorithm.problem.kappa > 0.0
        self._algorithm = algorithm
        self._states: list[Any] = []
        self._thetas: list[np.ndarray] = []

    def watch(self, before: RoundStart) -> None:
        """Keeps θ_t, and the state of an algorithm that decides by it."""
        self._thetas.append(before.state.theta)
        self._states += [before.state] if self._by_state else []

    @cached_property
    def thetas(self) -> np.ndarray:
        """θ_t of all evaluation rounds, once they were added, [S, E, m]."""
        return np.stack(self._thetas, axis=1)

    def totals(
        self, losses: Losses, seed: int, part: slice, rounds: Rounds, stops: np.ndarray
    ) -> np.ndarray:
        """The costs up to each stop of what seed number `seed` played at each evaluation round, [E, stops]."""
        if not self._by_state:
            return losses.totals(self.thetas[seed, part], [rounds], stops)
        costs = np.stack([self._state_costs(state, seed, rounds) for state in self._states[part]])
        return np.cumsum(costs, axis=-1)[:, stops - 1]

    def _state_costs(self, state: Any, seed: int, rounds: Rounds) -> np.ndarray:
        """The costs [N] of deciding every round with this state."""
        size = len(rounds.costs)
        repeated = lambda x: np.broadcast_to(x[seed], (size, *x.shape[1:]))  # noqa: E731
        many = map_arrays(state, np.ndarray, repeated)
        algorithm = self._algorithm
        one = on_problem(algorithm, algorithm.problem.rows(slice(seed, seed + 1)))
        return dot(rounds.costs, one.decide(many, rounds.X)[1])
