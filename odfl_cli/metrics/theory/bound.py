"""The constants of the paper's bounds, measured on the rounds of a run, and the bounds with them."""

from dataclasses import replace
from typing import Any

import numpy as np

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.engine.kernels import kernel_of
from odfl_cli.metrics.base import by_seed
from odfl_cli.metrics.played import PlayedRounds
from odfl_cli.metrics.theory.margin import directional_margins, fit_margin, gaussian_margin
from odfl_cli.metrics.theory.sample import Sample, largest_slope, on_the_sphere
from odfl_cli.metrics.theory.theorems import (
    Constants,
    Margin,
    df_ftpl_bound,
    df_ogd_bound,
    inexactness,
)
from odfl_cli.problem.polytopes.linear import DecisionSet
from odfl_cli.problem.problem import Problem

MAX_ROUNDS = 256  # that margins of a seed are measured on, where they are not known


def has_bound(algorithm: Algorithm) -> bool:
    """True if a theorem covers the algorithm and the smoothing of the run."""
    regularizer = algorithm.problem.regularizer
    known = algorithm.theorem is not None and not np.isnan(steepness(algorithm.problem))
    return known and getattr(regularizer, "in_paper", False)


def bound(
    algorithm: Algorithm,
    constants: list[Constants],
    t: np.ndarray,
    notes: dict[str, np.ndarray],
    xi: np.ndarray | None = None,
) -> np.ndarray:
    """The bound on the regret up to the rounds t, [S, E], with the constants of every seed.

    It includes the mean up to t of `xi` [S, E], the oracle's error; NaN if it was not examined.
    """
    theorem: Any = df_ftpl_bound if algorithm.theorem == 1 else df_ogd_bound
    known = [notes[name] for name in ("alpha", "eta", "path_length") if name in notes]
    rows = zip(constants, *known, strict=True)
    kappa = algorithm.problem.kappa
    terms = [theorem(one, t, *values) + inexactness(one, kappa) for one, *values in rows]
    average = np.stack(terms)
    return t * (average if xi is None else average + running_nanmean(xi))


def bound_report(
    seeds: tuple[int, ...], constants: list[Constants], xi: np.ndarray | None
) -> dict[str, Any]:
    """The constants of the bound by seed, for summary.json, with the mean ξ if it was examined."""
    values = [(c.slope, c.costs, c.suboptimality, *c.margin) for c in constants]
    columns = dict(zip(("G", "D_Z", "n", "C_0", "beta"), np.array(values).T, strict=True))
    if xi is not None:
        columns["xi"] = running_nanmean(xi)[:, -1]
    finite = {name: numbers for name, numbers in columns.items() if np.isfinite(numbers).all()}
    return {"bound": {name: by_seed(seeds, numbers) for name, numbers in finite.items()}}


def running_nanmean(values: np.ndarray) -> np.ndarray:
    """The running mean over the last axis, without NaN; the first value is a number."""
    known = ~np.isnan(values)
    return np.cumsum(np.where(known, values, 0.0), axis=-1) / np.cumsum(known, axis=-1)


def constants_by_seed(problem: Problem, played: PlayedRounds, rounds: int) -> list[Constants]:
    """The constants of every seed: G and D_Z are the largest seen (Gaussian X is unbounded), C_0 and β if known."""
    measured, margin = [], known_margin(problem, played.environment)
    for row in range(len(played.seeds)):
        one = problem.rows(slice(row, row + 1))
        X, costs = played.subset(row, rounds, MAX_ROUNDS)
        known = measure_constants(Sample(one, X, costs, on_the_sphere(one, len(X))), margin)
        slope, largest = known.slope, known.costs
        for X, costs in played.blocks(row):
            sample = Sample(one, X, costs, on_the_sphere(one, len(X)))
            slope = max(slope, largest_slope(sample))
            largest = max(largest, float(np.sqrt((costs**2).sum(-1)).max()))
        measured.append(replace(known, slope=slope, costs=largest))
    return measured


def known_margin(problem: Problem, environment: Any) -> Margin | None:
    """C_0 and β = 1 of the paper's proposition, if the items of a linear model on the simplex are Gaussian."""
    covariance = getattr(environment, "item_covariance", None)
    linear = kernel_of(problem.predictor) == "linear" and kernel_of(problem.polytope) == "simplex"
    if covariance is None or not linear:
        return None
    return gaussian_margin(covariance, problem.theta_set.radius)


def measure_constants(sample: Sample, margin: Margin | None = None) -> Constants:
    """The constants on the sample: G and D_Z are the largest seen, C_0 and β an envelope if not given.

    Margins are taken at ‖θ‖ = R in a few directions, of which the worst counts; at θ = 0, which the
    ball contains, all margins vanish and Assumption 2 does not hold.
    """
    problem = sample.problem
    return Constants(
        diameter=2 * problem.theta_set.radius,
        slope=largest_slope(sample),
        costs=float(np.sqrt((sample.costs**2).sum(-1)).max()),
        suboptimality=problem.regularizer.suboptimality,
        steepness=steepness(problem),
        vertices=longest_vertex(problem.polytope),
        parameters=problem.parameters,
        margin=margin or fit_margin(directional_margins(sample)),
    )


def longest_vertex(polytope: DecisionSet) -> float:
    """max_k ‖v_k‖_1: exact if no vertex has a negative coordinate, else an upper bound."""
    identity = np.eye(polytope.dimension)
    lower = np.diagonal(polytope.minimise(identity))
    if (lower >= 0).all():
        return float(polytope.minimise(-np.ones(polytope.dimension)).sum())
    upper = np.diagonal(polytope.minimise(-identity))
    return float(np.maximum(np.abs(lower), np.abs(upper)).sum())


def steepness(problem: Problem) -> float:
    """A constant with ‖∂w̃_α/∂g‖ ≤ steepness / α, NaN if none is known; f̃ is Lipschitz with steepness · G · D_Z / α."""
    return getattr(problem.regularizer, "steepness", np.nan)
