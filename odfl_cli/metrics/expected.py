"""F_t(θ) = E⟨c_t, w*(θ, X_t)⟩ of what was played, and its infimum, from samples of the law."""

from dataclasses import dataclass

import numpy as np

from odfl_cli.environments import KnownLaw, Rounds
from odfl_cli.metrics.comparators import (
    always_scored,
    find_comparator,
    spread_out,
    with_scattered,
)
from odfl_cli.metrics.losses import Losses, Plays

ITERATES = 2
"""How many of a learner's own parameters a search starts from and is compared with."""


@dataclass(frozen=True)
class Expected:
    """Expected costs of one seed, at the evaluation rounds [E]."""

    cost: np.ndarray  # F_t(θ_t)
    error: float  # the standard error of the last of them
    best: np.ndarray  # inf_θ F_t(θ)
    best_fixed: np.ndarray  # inf_θ Σ_{s≤t} F_s(θ)
    uncertainty: np.ndarray  # of `best`
    thetas: np.ndarray  # comparators, [≤ E, m]


@dataclass(frozen=True)
class ExpectedCosts:
    """Measures plays on fresh samples: `size` rounds to score and a fifth as many more to search on.

    Scored on the sample it was found on, a comparator would look better than it is.
    """

    law: KnownLaw
    losses: Losses
    t: np.ndarray  # evaluation rounds, from 1
    size: int
    steps: int

    def of(self, plays: Plays, row: int, seed: int, scattered: np.ndarray) -> Expected:
        """Those of `seed`, number `row` of the run; searches also start from `scattered` [C, m]."""
        measure = self._stationary if self.law.stationary else self._moving
        return measure(plays, row, seed, scattered)

    def _stationary(self, plays: Plays, row: int, seed: int, scattered: np.ndarray) -> Expected:
        scored, searched = self._sample(seed, self.t[-1])
        totals = plays.totals(self.losses, row, slice(None), scored, pair_ends(self.size))
        truths = self._truths(seed, self.t[-1])
        thetas = plays.thetas[row]
        near = np.concatenate([truths, spread_out(thetas, ITERATES)])
        found = find_comparator(self.losses, searched, with_scattered(near, scattered), self.steps)
        unsearched = always_scored(thetas, ITERATES)
        theta, value = self._best(np.concatenate([found.finalists, truths, unsearched]), scored)
        best = np.full(len(self.t), value)
        uncertainty = np.full(len(self.t), found.uncertainty)
        cost, error = totals[:, -1] / self.size, error_of(totals[-1], self.size)
        return Expected(cost, error, best, value * self.t, uncertainty, theta[None])

    def _moving(self, plays: Plays, row: int, seed: int, scattered: np.ndarray) -> Expected:
        """Every evaluation round has its own comparator; the search starts from the last one, too."""
        thetas = plays.thetas[row]
        measured, mixture, last = [], [], np.empty((0, thetas.shape[1]))
        stops = pair_ends(self.size)
        for e, t in enumerate(self.t):
            scored, searched = self._sample(seed, t)
            (totals,) = plays.totals(self.losses, row, slice(e, e + 1), scored, stops)
            truths = self._truths(seed, t)
            starts = with_scattered(np.concatenate([truths, last, thetas[e : e + 1]]), scattered)
            found = find_comparator(self.losses, searched, starts, self.steps)
            unsearched = always_scored(thetas[e : e + 1], 1)
            theta, value = self._best(np.concatenate([found.finalists, truths, unsearched]), scored)
            last = found.finalists
            measured.append((totals[-1] / self.size, value, found.uncertainty, theta))
            mixture.append(searched)
        cost, best, uncertainty, comparators = (np.array(x) for x in zip(*measured, strict=True))
        near = np.concatenate([self._truths(seed, self.t[-1]), spread_out(comparators, 8)])
        unsearched = always_scored(thetas, ITERATES)
        best_fixed = self._best_fixed(seed, mixture, near, scattered, unsearched)
        error = error_of(totals, self.size)
        return Expected(cost, error, best, best_fixed, uncertainty, comparators)

    def _best_fixed(
        self,
        seed: int,
        searched: list[Rounds],
        near: np.ndarray,
        scattered: np.ndarray,
        unsearched: np.ndarray,
    ) -> np.ndarray:
        """inf_θ Σ_{s≤t} F_s(θ): of the comparators and of one found on a mixture of all rounds."""
        counts = rounds_nearest(self.t, len(searched[0].costs))
        firsts = np.cumsum(counts) - counts
        parts = [slice(first, first + count) for first, count in zip(firsts, counts, strict=True)]
        chosen = [(r.X[part], r.costs[part]) for r, part in zip(searched, parts, strict=True)]
        mixture = Rounds(*map(np.concatenate, zip(*chosen, strict=True)))
        found = find_comparator(self.losses, mixture, with_scattered(near, scattered), self.steps)
        pool = np.concatenate([found.finalists, near, unsearched])
        values = [self.losses.average(pool, self._sample(seed, t)[0]) for t in self.t]
        return sum_up_to(self.t, np.stack(values, axis=-1)).min(0)

    def _best(self, candidates: np.ndarray, scored: Rounds) -> tuple[np.ndarray, float]:
        """The best of the candidates, with its cost."""
        values = self.losses.average(candidates, scored)
        return candidates[values.argmin()], float(values.min())

    def _sample(self, seed: int, t: int) -> tuple[Rounds, Rounds]:
        """Rounds to score and rounds to search on."""
        both = self.size + max(2, self.size // 5)
        X, costs = (values[0] for values in self.law.fresh((seed,), int(t) - 1, both))
        first, rest = slice(self.size), slice(self.size, None)
        return Rounds(X[first], costs[first]), Rounds(X[rest], costs[rest])

    def _truths(self, seed: int, t: int) -> np.ndarray:
        """±θ*_t on the border of Θ, where the law has such a parameter of the model's size."""
        theta_star = self.law.theta_star((seed,), int(t) - 1)
        problem = self.losses.problem
        if theta_star is None or theta_star.shape[-1] != problem.parameters:
            return np.empty((0, problem.parameters))
        return problem.theta_set.project(np.concatenate([theta_star, -theta_star]))


def pair_ends(size: int) -> np.ndarray:
    """2, 4, …, size: samples 2n and 2n + 1 may be dependent."""
    return np.append(np.arange(2, size, 2), size)


def error_of(totals: np.ndarray, size: int) -> float:
    """The standard error of a mean of `size` values, from their sums up to the end of every pair."""
    pairs = np.diff(totals[: size // 2], prepend=0.0) / 2
    return float(pairs.std() / np.sqrt(len(pairs)))


def sum_up_to(t: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Σ_{s≤t} y_s at rounds t [E], of which the first is 1, for values [..., E] of y there.

    Between two of the rounds y is taken to be linear (the trapezoid rule for sums), so that the sum
    is exact where all rounds are given.
    """
    gaps = np.diff(t)
    low, high = values[..., :-1], values[..., 1:]
    pieces = 0.5 * (gaps * (low + high) + (high - low))
    return np.cumsum(np.concatenate([values[..., :1], pieces], axis=-1), axis=-1)


def rounds_nearest(t: np.ndarray, size: int) -> np.ndarray:
    """How many of `size` instants, even over all rounds, lie nearest to each of the rounds t, [E]."""
    instants = np.linspace(t[0], t[-1], size)
    nearest = np.searchsorted((t[1:] + t[:-1]) / 2, instants)
    return np.bincount(nearest, minlength=len(t))
