"""The problem's parts as kernels take them: a small number for each kind, and its parameters."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from odfl_cli.problem.polytopes import Box, Budget, Knapsack, ShortestPath, Simplex
from odfl_cli.problem.predictors import Affine, Linear, PerItem
from odfl_cli.problem.problem import Problem
from odfl_cli.problem.regularizers import Entropy, LogBarrier

LINEAR, AFFINE, PER_ITEM = range(3)
SIMPLEX, BOX, BUDGET, KNAPSACK, SHORTEST_PATH = range(5)
ENTROPY, LOG_BARRIER = range(2)

PREDICTORS: dict[type, int] = {Linear: LINEAR, Affine: AFFINE, PerItem: PER_ITEM}
POLYTOPES: dict[type, int] = {
    Simplex: SIMPLEX,
    Box: BOX,
    Budget: BUDGET,
    Knapsack: KNAPSACK,
    ShortestPath: SHORTEST_PATH,
}
REGULARIZERS: dict[type, int] = {Entropy: ENTROPY, LogBarrier: LOG_BARRIER}

NUMBERS: dict[int, Callable[[Any], Any]] = {
    SIMPLEX: lambda simplex: (),
    BOX: lambda box: box.faces()[1],  # −lower, then upper
    BUDGET: lambda budget: (budget.k,),
    KNAPSACK: lambda knapsack: (knapsack.capacity, *knapsack.item_weights),
    SHORTEST_PATH: lambda grid: (grid.rows, grid.columns),
}
"""What the minimiser of each polytope needs to know."""


class Parts(NamedTuple):
    """Predictor, polytope and regulariser."""

    predictor: int
    polytope: int
    numbers: np.ndarray  # the polytope's
    regularizer: int
    whole: np.ndarray  # the log barrier's numbers, packed; empty for others
    real: np.ndarray


def parts_of(problem: Problem) -> Parts:
    """The parts of a problem that has kernels for all of them."""
    polytope, regularizer = POLYTOPES[type(problem.polytope)], problem.regularizer
    none = np.empty(0, dtype=np.int64), np.empty(0)
    whole, real = regularizer.packed if isinstance(regularizer, LogBarrier) else none
    return Parts(
        predictor=PREDICTORS[type(problem.predictor)],
        polytope=polytope,
        numbers=np.array(NUMBERS[polytope](problem.polytope), dtype=np.float64),
        regularizer=REGULARIZERS[type(regularizer)],
        whole=whole,
        real=real,
    )
