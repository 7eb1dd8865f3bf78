"""The problem's parts as kernels take them: a small integer for each kind, and its numbers.

The integers are compiled, by odfl_cli.core.compiling, into kernels.

A part that a kernel computes names it: `kernel = "linear"` in its class. A subclass may compute
something else, so that it does not inherit the name. Polytopes with a kernel also offer their numbers
as `packed`, one array of floats, or None for one that is too large; regularisers as `packed`, an array
of integers and one of floats, or None for a polytope on which they have no kernel.
"""

from typing import Any, NamedTuple

import numpy as np

from odfl_cli.problem.problem import Problem

PREDICTORS = ("linear", "affine", "per_item", "quadratic")
LINEAR, AFFINE, PER_ITEM, QUADRATIC = range(4)
POLYTOPES = ("simplex", "box", "budget", "knapsack", "shortest_path", "assignment", "vertices")
SIMPLEX, BOX, BUDGET, KNAPSACK, SHORTEST_PATH, ASSIGNMENT, VERTICES = range(7)
REGULARIZERS = ("entropy", "log_barrier", "projection")
ENTROPY, LOG_BARRIER, PROJECTION = range(3)
KERNELS = {
    "predictor": PREDICTORS,
    "polytope": POLYTOPES,
    "regularizer": REGULARIZERS,
    "oracle": ("sgd",),
}
"""The parts of a problem and the names of their kernels."""


class Parts(NamedTuple):
    """Predictor, polytope, regulariser and κ."""

    predictor: int
    polytope: int
    numbers: np.ndarray  # the polytope's
    regularizer: int
    ints: np.ndarray  # the regulariser's
    floats: np.ndarray
    kappa: float


def kernel_of(part: Any) -> str | None:
    """The kernel that the part's own class names, if it does."""
    return type(part).__dict__.get("kernel")


def parts_of(problem: Problem) -> Parts:
    """The parts of a problem that has kernels for all of them."""
    predictor, polytope, regularizer = (
        KERNELS[part].index(str(kernel_of(getattr(problem, part))))
        for part in ("predictor", "polytope", "regularizer")
    )
    chosen: Any = problem
    numbers, (ints, floats) = chosen.polytope.packed, chosen.regularizer.packed
    return Parts(predictor, polytope, numbers, regularizer, ints, floats, problem.kappa)


def descent_of(problem: Problem) -> tuple[float, int, float, int]:
    """The radius of Θ, and of an oracle that descends: steps, their rate, rounds from call to call."""
    oracle: Any = problem.oracle
    return problem.theta_set.radius, oracle.steps, oracle.lr, oracle.every


def fits_lanes(problem: Problem) -> bool:
    """Whether the problem is the paper's: linear model, simplex, entropy, exact decisions."""
    parts = parts_of(problem)
    paper = (LINEAR, SIMPLEX, ENTROPY, 0.0)
    return (parts.predictor, parts.polytope, parts.regularizer, parts.kappa) == paper
