"""The constants of the paper's bounds, measured on the rounds of a run."""

import numpy as np

from odfl_cli.core.errors import UserError
from odfl_cli.metrics.theory.margin import fit_margin, margin_sample
from odfl_cli.metrics.theory.sample import Sample, on_the_sphere, slopes
from odfl_cli.metrics.theory.theorems import Constants
from odfl_cli.problem.polytopes import Polytope
from odfl_cli.problem.problem import Problem

DIRECTIONS = 8


def measure_constants(sample: Sample) -> Constants:
    """The constants on the sample: G and D_Z are the largest seen, C_0 and β an envelope.

    Margins are taken at ‖θ‖ = R in a few directions, of which the worst counts; at θ = 0, which the
    ball contains, all margins vanish and Assumption 2 does not hold.
    """
    problem = sample.problem
    directions = on_the_sphere(problem, DIRECTIONS)[:, None, :]
    return Constants(
        diameter=2 * problem.theta_set.radius,
        slope=float(slopes(sample).max()),
        costs=float(np.sqrt((sample.costs**2).sum(-1)).max()),
        suboptimality=problem.regularizer.suboptimality,
        steepness=steepness(problem),
        vertices=longest_vertex(problem.polytope),
        parameters=problem.parameters,
        margin=fit_margin(margin_sample(problem, sample.X, directions)),
    )


def longest_vertex(polytope: Polytope) -> float:
    """max_k ‖v_k‖_1: exact where no vertex has a negative coordinate, else from above."""
    identity = np.eye(polytope.dimension)
    lower = np.diagonal(polytope.minimise(identity))
    if (lower >= 0).all():
        return float(polytope.minimise(-np.ones(polytope.dimension)).sum())
    upper = np.diagonal(polytope.minimise(-identity))
    return float(np.maximum(np.abs(lower), np.abs(upper)).sum())


def steepness(problem: Problem) -> float:
    """A constant with ‖∂w̃_α/∂g‖ ≤ steepness / α; f̃ is Lipschitz with steepness · G · D_Z / α."""
    known = getattr(problem.regularizer, "steepness", None)
    if known is None:
        name = type(problem.regularizer).__name__
        raise UserError(f"no Lipschitz constant is known for regularizer {name}")
    return known
