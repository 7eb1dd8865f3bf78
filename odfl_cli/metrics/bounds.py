"""The theorem's bound beside the measured regret, with the run's own constants."""

import numpy as np

from odfl_cli.algorithms import DFFTPL, DFOGD, Algorithm
from odfl_cli.core.errors import UserError
from odfl_cli.metrics.hindsight import PlayedRounds
from odfl_cli.metrics.theory.bounds import Constants, df_ftpl_bound, df_ogd_bound
from odfl_cli.metrics.theory.constants import constants_of
from odfl_cli.metrics.theory.sample import Sample, on_the_sphere
from odfl_cli.metrics.theory.steepness import steepness
from odfl_cli.problem.problem import Problem
from odfl_cli.problem.regularizers import Quadratic

SAMPLED = 256  # rounds at most that the constants are measured on


def has_bound(algorithm: Algorithm) -> bool:
    """Whether a theorem speaks of it: the paper's algorithm, decisions and smoothing.

    A fixed δ, κ > 0 and half the squared norm are outside of what the theorems allow.
    """
    problem = algorithm.problem
    if not isinstance(algorithm, DFOGD | DFFTPL) or getattr(algorithm, "delta", None) is not None:
        return False
    if problem.solver.kappa > 0 or isinstance(problem.regularizer, Quadratic):
        return False
    try:
        steepness(problem.regularizer)
    except UserError:  # a regulariser of the user's own, whose Lipschitz constant nobody knows
        return False
    return True


def bound(
    algorithm: Algorithm,
    played: PlayedRounds,
    t: np.ndarray,
    notes: dict[str, np.ndarray],
    xi: np.ndarray | None = None,
) -> np.ndarray:
    """What the regret up to the rounds t may be at most, [S, E]; NaN where no theorem speaks.

    xi [S, E] is the oracle's error where it was examined, NaN elsewhere: the bound has the mean of
    those up to t. Without it the bound lacks its ξ. A seed's constants are measured on its own
    rounds, so that it does not see the other seeds.
    """
    if not has_bound(algorithm):
        return np.full((played.seeds, len(t)), np.nan)
    theorem = df_ogd_bound if isinstance(algorithm, DFOGD) else df_ftpl_bound
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
    """Over the last axis, of those that are known; the first one is."""
    known = ~np.isnan(values)
    return np.cumsum(np.where(known, values, 0.0), axis=-1) / np.cumsum(known, axis=-1)


def measured_constants(problem: Problem, played: PlayedRounds, row: int) -> Constants:
    """On rounds of seed number `row`, evenly spread over the run."""
    X, costs = played.evenly(row, SAMPLED)
    return constants_of(Sample(problem, X, costs, on_the_sphere(problem, len(X))))
