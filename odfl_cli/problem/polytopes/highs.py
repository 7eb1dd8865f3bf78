"""Linear programs over one polytope, by HiGHS: the model is built once, the costs change per row."""

import threading
from typing import Any

import numpy as np

from odfl_cli.core.errors import UserError, message

EXACT = 1e-9
OPTIONS: dict[str, bool | int | float | str] = {
    "output_flag": False,
    "presolve": "off",
    "simplex_strategy": 4,  # primal: the start stays feasible when the objective changes
    "primal_feasibility_tolerance": EXACT,
    "dual_feasibility_tolerance": EXACT,
}


def import_highs() -> Any:
    """The module highspy; raises a UserError if another library has loaded its own HiGHS."""
    try:
        import highspy
    except ImportError as error:
        raise UserError(
            f"highspy cannot be imported ({message(error)}); where ortools was imported before it, "
            "as by pyepo, begin your program with `import highspy`"
        ) from error
    return highspy


class HiGHS:
    """A linear program with changing objectives.

    Every solve starts at the same vertex. If it started at the last solution, ties and
    last digits would depend on earlier solves, and so on the other seeds.
    """

    def __init__(self, A: np.ndarray, b: np.ndarray, C: np.ndarray, e: np.ndarray) -> None:
        highspy = import_highs()
        self._columns = np.arange(A.shape[1], dtype=np.int32)
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._highs = highspy.Highs()
        for option, value in OPTIONS.items():
            self._highs.setOptionValue(option, value)
        free, rows = np.full(A.shape[1], highspy.kHighsInf), np.vstack([A, C])
        self._highs.addVars(len(free), -free, free)
        lower = np.concatenate([np.full(len(b), -highspy.kHighsInf), e])
        row, column = np.nonzero(rows)
        starts = np.searchsorted(row, np.arange(len(rows))).astype(np.int32)
        entries = len(row), starts, column.astype(np.int32), rows[row, column]
        self._highs.addRows(len(rows), lower, np.concatenate([b, e]), *entries)
        self._lock = threading.Lock()
        self.bounded = self._reach_every_side()
        self._start = self._highs.getBasis()

    def vertex(self, costs: np.ndarray) -> np.ndarray | None:
        """A vertex of least cost, or None if HiGHS fails."""
        with self._lock:
            self._highs.clearSolver()  # a basis is not all of its state
            self._highs.setBasis(self._start)
            return self._solve(costs)

    def _solve(self, costs: np.ndarray) -> np.ndarray | None:
        largest = np.abs(costs).max()
        if not np.isfinite(largest):
            return None
        # HiGHS's tolerances are absolute: scale the largest cost to [1/2, 1), exactly.
        scaled = np.ldexp(costs, -int(np.frexp(largest)[1]))
        self._highs.changeColsCost(len(costs), self._columns, scaled)
        self._highs.run()
        if self._highs.getModelStatus() != self._optimal:
            return None
        return np.array(self._highs.getSolution().col_value)

    def _reach_every_side(self) -> bool:
        """True if every variable is bounded; brings all of them into the basis, so that every later one is a vertex."""
        units = np.eye(len(self._columns))
        return all(self._solve(cost) is not None for unit in units for cost in (unit, -unit))
