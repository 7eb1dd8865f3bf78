"""The theorem's bound on the regret of a run, with the constants of that run."""

from collections.abc import Callable
from typing import Any

import numpy as np

from odfl_cli.algorithms import Algorithm
from odfl_cli.metrics.base import by_seed
from odfl_cli.metrics.hindsight import PlayedRounds
from odfl_cli.metrics.theory.constants import measure_constants
from odfl_cli.metrics.theory.sample import Sample, on_the_sphere
from odfl_cli.metrics.theory.theorems import Constants, df_ftpl_bound, df_ogd_bound
from odfl_cli.problem.problem import Problem

THEOREMS: dict[int, Callable[..., np.ndarray]] = {1: df_ftpl_bound, 2: df_ogd_bound}
MAX_ROUNDS = 256  # that the constants are measured on


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

    It includes the mean up to t of `xi` [S, E], the oracle's error; NaN where it was not examined.
    """
    theorem = THEOREMS[algorithm.theorem or 0]
    names = [name for name in ("alpha", "eta", "path_length") if name in notes]
    average = np.stack(
        [theorem(one, t, *(notes[n][row] for n in names)) for row, one in enumerate(constants)]
    )
    return t * (average if xi is None else average + running_nanmean(xi))


def bound_report(
    seeds: tuple[int, ...], constants: list[Constants], xi: np.ndarray | None
) -> dict[str, Any]:
    """The constants behind the bound by seed, for summary.json, with the mean ξ where it was examined."""
    values = {
        "G": [measured.slope for measured in constants],
        "D_Z": [measured.costs for measured in constants],
        "n": [measured.suboptimality for measured in constants],
        "C_0": [measured.margin.c0 for measured in constants],
        "beta": [measured.margin.beta for measured in constants],
    }
    if xi is not None:
        values["xi"] = running_nanmean(xi)[:, -1].tolist()
    finite = {name: numbers for name, numbers in values.items() if np.isfinite(numbers).all()}
    return {"bound": {name: by_seed(seeds, numbers) for name, numbers in finite.items()}}


def running_nanmean(values: np.ndarray) -> np.ndarray:
    """The running mean over the last axis, without NaN; the first value is a number."""
    known = ~np.isnan(values)
    return np.cumsum(np.where(known, values, 0.0), axis=-1) / np.cumsum(known, axis=-1)


def constants_by_seed(problem: Problem, played: PlayedRounds, rounds: int) -> list[Constants]:
    """The constants of every seed, on rounds of its own that are evenly spread over the run."""
    measured = []
    for row in range(len(played.seeds)):
        X, costs = played.subset(row, rounds, MAX_ROUNDS)
        one = problem.rows(slice(row, row + 1))
        measured.append(measure_constants(Sample(one, X, costs, on_the_sphere(one, len(X)))))
    return measured
