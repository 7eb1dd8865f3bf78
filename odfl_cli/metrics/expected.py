"""F_t(θ) = E⟨c_t, w*(θ, X_t)⟩ of what was played, and its infimum, from samples of the law."""

from dataclasses import dataclass

import numpy as np

from odfl_cli.environments import KnownLaw, Rounds
from odfl_cli.metrics.comparators import (
    add_random,
    evenly_spaced,
    fallback_candidates,
    find_comparator,
)
from odfl_cli.metrics.losses import Losses, Plays

PLAYED_STARTS = 2
"""How many of the parameters that were played a search starts from and is compared with."""


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
    """Expected costs from fresh samples: `size` rounds to score and a fifth as many more to search on.

    Scored on the sample it was found on, a comparator would look better than it is.
    """

    law: KnownLaw
    losses: Losses
    t: np.ndarray  # evaluation rounds, from 1
    size: int
    steps: int

    def measure(self, plays: Plays, row: int, seed: int, random: np.ndarray) -> Expected:
        """The expected costs of `seed`, number `row` of the run; searches start from `random` [C, m], too."""
        if not self.law.stationary:
            return self._moving(plays, row, seed, random)
        scored, searched = self._sample(seed, self.t[-1])
        totals = plays.totals(self.losses, row, slice(None), scored, pair_ends(self.size))
        truths = self._truths(seed, self.t[-1])
        thetas = plays.thetas[row]
        near = np.concatenate([truths, evenly_spaced(thetas, PLAYED_STARTS)])
        found = find_comparator(self.losses, searched, add_random(near, random), self.steps)
        fallback = fallback_candidates(thetas, PLAYED_STARTS)
        theta, value = self._best(np.concatenate([found.finalists, truths, fallback]), scored)
        best = np.full(len(self.t), value)
        uncertainty = np.full(len(self.t), found.uncertainty)
        cost, error = totals[:, -1] / self.size, paired_error(totals[-1], self.size)
        return Expected(cost, error, best, value * self.t, uncertainty, theta[None])

    def _moving(self, plays: Plays, row: int, seed: int, random: np.ndarray) -> Expected:
        """Every evaluation round has its own comparator; the search starts from the last one, too."""
        thetas = plays.thetas[row]
        measured, mixture, last = [], [], np.empty((0, thetas.shape[1]))
        stops = pair_ends(self.size)
        for e, t in enumerate(self.t):
            scored, searched = self._sample(seed, t)
            (totals,) = plays.totals(self.losses, row, slice(e, e + 1), scored, stops)
            truths = self._truths(seed, t)
            starts = add_random(np.concatenate([truths, last, thetas[e : e + 1]]), random)
            found = find_comparator(self.losses, searched, starts, self.steps)
            fallback = fallback_candidates(thetas[e : e + 1], 1)
            theta, value = self._best(np.concatenate([found.finalists, truths, fallback]), scored)
            last = found.finalists
            measured.append((totals[-1] / self.size, value, found.uncertainty, theta))
            mixture.append(searched)
        cost, best, uncertainty, comparators = (np.array(x) for x in zip(*measured, strict=True))
        near = np.concatenate([self._truths(seed, self.t[-1]), evenly_spaced(comparators, 8)])
        fallback = fallback_candidates(thetas, PLAYED_STARTS)
        best_fixed = self._best_fixed(seed, mixture, near, random, fallback)
        error = paired_error(totals, self.size)
        return Expected(cost, error, best, best_fixed, uncertainty, comparators)

    def _best_fixed(
        self,
        seed: int,
        searched: list[Rounds],
        near: np.ndarray,
        random: np.ndarray,
        fallback: np.ndarray,
    ) -> np.ndarray:
        """inf_θ Σ_{s≤t} F_s(θ) over the comparators and one found on a mixture of all rounds, [E]."""
        counts = count_nearest(self.t, len(searched[0].costs))
        firsts = np.cumsum(counts) - counts
        parts = [slice(first, first + count) for first, count in zip(firsts, counts, strict=True)]
        chosen = [(r.X[part], r.costs[part]) for r, part in zip(searched, parts, strict=True)]
        mixture = Rounds(*map(np.concatenate, zip(*chosen, strict=True)))
        found = find_comparator(self.losses, mixture, add_random(near, random), self.steps)
        pool = np.concatenate([found.finalists, near, fallback])
        values = [self.losses.average(pool, self._sample(seed, t)[0]) for t in self.t]
        return interpolated_sums(self.t, np.stack(values, axis=-1)).min(0)

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


def paired_error(totals: np.ndarray, size: int) -> float:
    """The standard error of a mean of `size` values, from their sums up to the end of every pair."""
    pairs = np.diff(totals[: size // 2], prepend=0.0) / 2
    return float(pairs.std() / np.sqrt(len(pairs)))


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
    """How many of `size` instants, even over all rounds, lie nearest to each of the rounds t, [E]."""
    instants = np.linspace(t[0], t[-1], size)
    nearest = np.searchsorted((t[1:] + t[:-1]) / 2, instants)
    return np.bincount(nearest, minlength=len(t))
