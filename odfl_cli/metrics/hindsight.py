"""The best fixed parameter on realised rounds: independent repeats of descents and exact line searches.

The cost is piecewise constant with very many local minima, so that no search in bounded time is
sure to find the best: what is found is an upper bound on the minimum.
"""

from typing import NamedTuple

import numpy as np

from odfl_cli.core.arrays import unit
from odfl_cli.core.streams import Draw, draw
from odfl_cli.environments.base import Rounds
from odfl_cli.metrics.comparators import Schedule
from odfl_cli.metrics.losses import Losses
from odfl_cli.metrics.played import PlayedRounds

MAX_PREDICTIONS = 200_000
"""The most predictions of a seed that a search uses, evenly over its rounds."""

PREFIX_RATIO, MIN_PREFIX, PREFIX_REPEATS = 8, 64, 2
"""Comparators are searched for the first T, T/8, T/64, … rounds, down to MIN_PREFIX; the shorter ones twice."""

SCHEDULE = Schedule(share=4, alpha=(0.5, 0.02), rate=(1.0, 0.01))
"""Finer than for a law's comparator: the minimum of realised costs is a matter of single rounds.

Chosen on seeds from 1000: with more smoothing at first, repeats end in the same valley, and their
spread no longer tells how far the minimum may be.
"""

DEVIATIONS = 4.0
"""The minimum is taken to lie at most so many deviations of the repeats below their mean.

Chosen where the optimum is known, on noise with p = 3 and seeds 1000 to 1059: 4 covers all of them.
Tested on other problems and seeds.
"""

NEAR_REACH = 0.2
"""The range of every other line search in units of the radius: lines gain most near θ."""


class Effort(NamedTuple):
    """The cost of a search."""

    repeats: int  # independent searches
    steps: int  # of the descent of each
    lines: int  # exact line searches at the end of each


class Search:
    """Independent repeats that start from the same points and follow the same lines on any rounds."""

    def __init__(self, losses: Losses, rounds: Rounds, seed: int, effort: Effort) -> None:
        self._losses, self._steps = losses, effort.steps
        self.suggested, metric = losses.moments(rounds)  # guesses, [C, m]
        size, theta_set = 1 + effort.lines, losses.problem.theta_set
        kind = Draw("normal", (losses.problem.parameters,))
        normals = draw((seed,), "metrics/search", kind, 0, effort.repeats * size)
        # in which predictions on these rounds vary alike
        directions = theta_set.radius * unit(normals.reshape(effort.repeats, size, -1) @ metric)
        self._starts, self._lines = theta_set.project(directions[:, 0]), directions[:, 1:]

    def run(self, rounds: Rounds, guesses: np.ndarray, repeats: int) -> np.ndarray:
        """The parameters that the first `repeats` find, [repeats, m]: the ends of their descents.

        With lines, each continues from the best of its end and its share of the guesses [C, m].
        """
        starts = self._starts[:repeats]
        descent = SCHEDULE.descent(self._losses, rounds, starts, self._steps)
        ends = self._losses.descend(starts, rounds, descent)
        if not self._lines.size:
            return ends
        candidates = np.concatenate([ends, guesses])
        values = self._losses.average(candidates, rounds)
        found = []
        for r, lines in enumerate(self._lines[:repeats]):
            best = values[r::repeats].argmin()
            theta, value = candidates[r::repeats][best], float(values[r::repeats][best])
            for number, direction in enumerate(lines):
                reach = np.inf if number % 2 else NEAR_REACH
                moved, lower = self._losses.lowest_on_line(theta, direction, rounds, reach)
                theta, value = (moved, lower) if lower < value else (theta, value)
            found.append(theta)
        return np.stack(found)


def uncertainty_of(values: np.ndarray) -> float:
    """An estimate of how far the minimum may lie below the best of independent repeats [R ≥ 2].

    At least a deviation; that of few repeats is uncertain and counts R/(R − 1) times.
    """
    deviation = float(values.std(ddof=1)) * len(values) / (len(values) - 1)
    return max(deviation, DEVIATIONS * deviation - float(values.mean() - values.min()))


class Hindsight(NamedTuple):
    """Costs on the realised rounds of one seed at the evaluation rounds [E]; for S seeds [S, E]."""

    best_fixed: np.ndarray  # min_θ Σ_{s≤t} f_s(θ)
    best_pieces: np.ndarray  # the same with another θ between any two evaluation rounds
    uncertainty: np.ndarray  # of the best fixed average over all rounds


def measure_hindsight(
    losses: Losses,
    played: PlayedRounds,
    row: int,
    t: np.ndarray,
    near: np.ndarray,
    effort: Effort,
) -> Hindsight:
    """The best of a pool of parameters and 0, each scored on every round of seed number `row`.

    Searches use the good guesses `near` [C, m]. Nothing depends on what was played, so that the static
    regrets of two algorithms differ by what they paid.
    """
    T, most = int(t[-1]), max(1, MAX_PREDICTIONS // losses.problem.items)
    rounds = played.subset(row, T, most)
    search = Search(losses, rounds, played.seeds[row], effort)
    guesses = np.concatenate([near, search.suggested])
    pool = np.concatenate([search.run(rounds, guesses, effort.repeats), guesses])
    repeat, stop = np.arange(len(pool)) % effort.repeats, T // PREFIX_RATIO
    while stop >= MIN_PREFIX:  # no uncertainty is reported of the shorter ones
        found = search.run(played.subset(row, stop, most), pool, PREFIX_REPEATS)
        pool, stop = np.concatenate([pool, found]), stop // PREFIX_RATIO
    sums = losses.totals(np.concatenate([pool, np.zeros_like(pool[:1])]), played.blocks(row), t)
    pieces = np.diff(sums, axis=-1, prepend=0.0).min(0)
    values = [(sums[: len(repeat), -1][repeat == r] / T).min() for r in range(effort.repeats)]
    one_round = float(np.ptp(rounds.costs)) / T
    uncertainty = np.maximum(one_round, uncertainty_of(np.array(values)))
    return Hindsight(sums.min(0), np.cumsum(pieces), uncertainty)
