"""F_t(θ) = E⟨c_t, w*(θ, X_t)⟩ of what was played, and its infimum, from samples of the law."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from odfl_cli.environments.base import KnownLaw, Rounds
from odfl_cli.metrics.comparators import (
    Comparator,
    add_random,
    evenly_spaced,
    find_comparator,
    rank,
)
from odfl_cli.metrics.losses import Losses
from odfl_cli.metrics.played import Plays

MIXTURE_STARTS = 8  # comparators of single rounds that the search on all rounds starts from


Sample = tuple[Rounds, Rounds]  # to score and to search on


class Expected(NamedTuple):
    """Expected costs of one seed's decisions at the evaluation rounds [E]; for S seeds [S, E]."""

    cost: np.ndarray  # F_t(θ_t)
    error: np.ndarray  # the standard error of the last of them


class Infimum(NamedTuple):
    """The least expected costs of one seed at the evaluation rounds [E]; for S seeds [S, E]."""

    best: np.ndarray  # inf_θ F_t(θ)
    best_fixed: np.ndarray  # inf_θ Σ_{s≤t} F_s(θ)
    uncertainty: np.ndarray  # of `best`
    thetas: np.ndarray  # comparators, [≤ E, m]


@dataclass(frozen=True)
class ExpectedCosts:
    """Expected costs of a seed from fresh samples: `size` rounds to score and a fifth as many more to search on.

    Scored on the sample it was found on, a comparator would look better than it is. No search sees what was
    played, so that all algorithms are compared with the same parameters.
    """

    law: KnownLaw
    losses: Losses
    seed: int
    t: np.ndarray  # evaluation rounds, from 1
    size: int
    steps: int  # of a search
    random: np.ndarray  # that searches start from, too, [C, m]

    def measure(self, plays: Plays, row: int) -> Expected:
        """The expected costs of the decisions of seed number `row`."""
        stops, sample = pair_ends(self.size), self._last_sample[0]
        if self.law.stationary:
            totals = plays.totals(self.losses, row, slice(None), sample, stops)
            return Expected(totals[:, -1] / self.size, paired_error(totals[-1], self.size))
        cost = []
        for e, t in enumerate(self.t):
            part = slice(e, e + 1)
            (totals,) = plays.totals(self.losses, row, part, self._sample(t)[0], stops)
            cost.append(totals[-1] / self.size)
        return Expected(np.array(cost), paired_error(totals, self.size))

    def search(self) -> Infimum:
        """The comparators, which do not depend on the decisions played."""
        if not self.law.stationary:
            return self._search_moving()
        theta, value, found = self._infimum(self._last_sample, self._truths(self.t[-1]))
        best, uncertainty = (np.full(len(self.t), x) for x in (value, found.uncertainty))
        return Infimum(best, value * self.t, uncertainty, theta[None])

    def _search_moving(self) -> Infimum:
        """Every evaluation round has its own comparator; the search starts from the last one, too."""
        last, measured, searched = self.random[:0], [], []
        for t in self.t:
            sample, truths = self._sample(t), self._truths(t)
            theta, value, found = self._infimum(sample, truths, last)
            measured.append((value, found.uncertainty, theta))
            searched.append(sample[1])
            last = found.finalists
        best, uncertainty, comparators = (np.array(x) for x in zip(*measured, strict=True))
        near = np.concatenate([truths, evenly_spaced(comparators, MIXTURE_STARTS)])
        starts = add_random(near, self.random)
        found = find_comparator(self.losses, self._mix(searched), starts, self.steps)
        pool = np.concatenate([found.finalists, near, np.zeros_like(near[:1])])
        values = [self.losses.average(pool, self._sample(t)[0]) for t in self.t]
        best_fixed = interpolated_sums(self.t, np.stack(values, axis=-1)).min(0)
        return Infimum(best, best_fixed, uncertainty, comparators)

    @cached_property
    def _last_sample(self) -> Sample:
        """The sample of the last round, which is that of all rounds of a stationary law."""
        return self._sample(self.t[-1])

    def _infimum(
        self, sample: Sample, truths: np.ndarray, near: np.ndarray | None = None
    ) -> tuple[np.ndarray, float, Comparator]:
        """The best of what a search finds, the truths and 0, with its cost; the search's result."""
        starts = truths if near is None else np.concatenate([truths, near])
        found = find_comparator(self.losses, sample[1], add_random(starts, self.random), self.steps)
        pool = np.concatenate([found.finalists, truths, np.zeros_like(found.theta[None])])
        values = self.losses.average(pool, sample[0])
        best = rank(values)[0]
        return pool[best], float(values[best]), found

    def _mix(self, samples: list[Rounds]) -> Rounds:
        """A sample of all rounds: rounds from the samples of all evaluation rounds by their share."""
        ends = np.cumsum(count_nearest(self.t, len(samples[0].costs)))
        parts = map(slice, np.append(0, ends[:-1]), ends)
        chosen = [(X[part], costs[part]) for (X, costs), part in zip(samples, parts, strict=True)]
        return Rounds(*map(np.concatenate, zip(*chosen, strict=True)))

    def _sample(self, t: int) -> Sample:
        """Rounds to score and rounds to search on."""
        both = self.size + max(2, self.size // 5)
        X, costs = (values[0] for values in self.law.fresh((self.seed,), int(t) - 1, both))
        first, rest = slice(self.size), slice(self.size, None)
        return Rounds(X[first], costs[first]), Rounds(X[rest], costs[rest])

    def _truths(self, t: int) -> np.ndarray:
        """±θ*_t on the border of Θ, if the law has such a parameter of the model's size."""
        theta_star = self.law.theta_star((self.seed,), int(t) - 1)
        problem = self.losses.problem
        if theta_star is None or theta_star.shape[-1] != problem.parameters:
            return np.empty((0, problem.parameters))
        return problem.theta_set.project(np.concatenate([theta_star, -theta_star]))


def pair_ends(size: int) -> np.ndarray:
    """2, 4, …, size: samples 2n and 2n + 1 may be dependent."""
    return np.append(np.arange(2, size, 2), size)


def paired_error(totals: np.ndarray, size: int) -> np.ndarray:
    """The standard error of a mean of `size` values, from their sums up to the end of every pair."""
    pairs = np.diff(totals[: size // 2], prepend=0.0) / 2
    return np.asarray(pairs.std() / np.sqrt(len(pairs)))


def interpolated_sums(t: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Σ_{s≤t} y_s at rounds t [E], of which the first is 1, for values [..., E] of y there.

    Between two of the rounds y is taken to be linear (the trapezoid rule for sums), so that the sum
    is exact where all rounds are given.
    """
    gaps = np.diff(t)
    low, high = values[..., :-1], values[..., 1:]
    pieces = 0.5 * (gaps * (low + high) + (high - low))
    return np.cumsum(np.concatenate([values[..., :1], pieces], axis=-1), axis=-1)


def count_nearest(t: np.ndarray, size: int) -> np.ndarray:
    """The number of `size` instants, evenly spaced over all rounds, nearest to each of the rounds t, [E]."""
    instants = np.linspace(t[0], t[-1], size)
    nearest = np.searchsorted((t[1:] + t[:-1]) / 2, instants)
    return np.bincount(nearest, minlength=len(t))
