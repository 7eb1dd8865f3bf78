"""The theorem's bound on the regret of a run, with the run's own constants."""

from collections.abc import Callable
from typing import Any

import numpy as np

from odfl_cli.algorithms import Algorithm
from odfl_cli.metrics.base import by_seed
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
    constants: list[Constants],
    t: np.ndarray,
    notes: dict[str, np.ndarray],
    xi: np.ndarray | None = None,
) -> np.ndarray:
    """The bound on the regret up to the rounds t, [S, E], with the constants of every seed.

    xi [S, E] is the oracle's error where it was examined, NaN elsewhere: the bound has the mean of
    those up to t. Without it the bound lacks its ξ.
    """
    theorem = THEOREMS[algorithm.theorem or 0]
    names = [name for name in ("alpha", "eta", "path_length") if name in notes]
    average = [
        theorem(measured, t, *(notes[name][row] for name in names))
        for row, measured in enumerate(constants)
    ]
    without = np.stack(average)
    return t * (without if xi is None else without + mean_so_far(xi))


def bound_report(
    seeds: tuple[int, ...], constants: list[Constants], xi: np.ndarray | None
) -> dict[str, Any]:
    """The constants behind the bound by seed, for summary.json; ξ is the mean of those examined, or not there."""
    values = {
        "G": [measured.slope for measured in constants],
        "D_Z": [measured.costs for measured in constants],
        "n": [measured.suboptimality for measured in constants],
        "C_0": [measured.margin.c0 for measured in constants],
        "beta": [measured.margin.beta for measured in constants],
    }
    if xi is not None:
        values["xi"] = mean_so_far(xi)[:, -1].tolist()
    finite = {name: numbers for name, numbers in values.items() if np.isfinite(numbers).all()}
    return {"bound": {name: by_seed(seeds, numbers) for name, numbers in finite.items()}}


def mean_so_far(values: np.ndarray) -> np.ndarray:
    """The running mean over the last axis of what is not NaN; the first value is not."""
    known = ~np.isnan(values)
    return np.cumsum(np.where(known, values, 0.0), axis=-1) / np.cumsum(known, axis=-1)


def measured_constants(problem: Problem, played: PlayedRounds, rounds: int) -> list[Constants]:
    """Of every seed on its own rounds, evenly spread over the run, so that no seed depends on others."""
    measured = []
    for row in range(len(played.seeds)):
        own, (X, costs) = problem.rows(slice(row, row + 1)), played.some(row, rounds, SAMPLED)
        measured.append(constants_of(Sample(own, X, costs, on_the_sphere(own, len(X)))))
    return measured
