"""The theorem's bound on the regret of a run, with the run's own constants."""

from collections.abc import Callable

import numpy as np

from odfl_cli.algorithms import Algorithm
from odfl_cli.metrics.hindsight import PlayedRounds
from odfl_cli.metrics.theory.constants import constants_of
from odfl_cli.metrics.theory.sample import Sample, on_the_sphere
from odfl_cli.metrics.theory.theorems import Constants, df_ftpl_bound, df_ogd_bound
from odfl_cli.problem.problem import Problem

THEOREMS: dict[int, Callable[..., np.ndarray]] = {1: df_ftpl_bound, 2: df_ogd_bound}
SAMPLED = 256  # rounds at most that the constants are measured on


def has_bound(algorithm: Algorithm) -> bool:
    """Whether a theorem covers the run: its algorithm, exact decisions, and its smoothing."""
    regularizer, kappa = algorithm.problem.regularizer, algorithm.problem.kappa
    return (
        algorithm.theorem is not None
        and kappa == 0.0
        and getattr(regularizer, "in_paper", False)
        and getattr(regularizer, "steepness", None) is not None
    )


def bound(
    algorithm: Algorithm,
    played: PlayedRounds,
    t: np.ndarray,
    notes: dict[str, np.ndarray],
    xi: np.ndarray | None = None,
) -> np.ndarray:
    """The bound on the regret up to the rounds t, [S, E]; NaN where no theorem applies.

    xi [S, E] is the oracle's error where it was examined, NaN elsewhere: the bound has the mean of
    those up to t. Without it the bound lacks its ξ. A seed's constants are measured on its own
    rounds, so that they do not depend on the other seeds.
    """
    if not has_bound(algorithm):
        return np.full((played.seeds, len(t)), np.nan)
    theorem = THEOREMS[algorithm.theorem or 0]
    names = [name for name in ("alpha", "eta", "path_length") if name in notes]
    average = [
        theorem(
            measured_constants(algorithm.problem, played, row),
            t,
            *(notes[name][row] for name in names),
        )
        for row in range(played.seeds)
    ]
    without = np.stack(average)
    return t * (without if xi is None else without + mean_so_far(xi))


def mean_so_far(values: np.ndarray) -> np.ndarray:
    """The running mean over the last axis of what is not NaN; the first value is not."""
    known = ~np.isnan(values)
    return np.cumsum(np.where(known, values, 0.0), axis=-1) / np.cumsum(known, axis=-1)


def measured_constants(problem: Problem, played: PlayedRounds, row: int) -> Constants:
    """On rounds of seed number `row`, evenly spread over the run."""
    X, costs = played.evenly(row, SAMPLED)
    return constants_of(Sample(problem, X, costs, on_the_sphere(problem, len(X))))
