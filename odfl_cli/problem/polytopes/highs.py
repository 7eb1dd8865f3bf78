"""Linear programs over one polytope, by HiGHS: the model is built once, costs change per row."""

import threading
from typing import Any

import numpy as np

EXACT = 1e-9
OPTIONS: dict[str, bool | int | float | str] = {
    "output_flag": False,
    "presolve": "off",
    "simplex_strategy": 4,  # primal: the start stays feasible when the objective changes
    "primal_feasibility_tolerance": EXACT,
    "dual_feasibility_tolerance": EXACT,
}


class HiGHS:
    """One linear program whose objective changes.

    Every solve starts at the same vertex. Starting where the last one ended would let ties and
    last digits depend on what was solved before, and so on the other seeds.
    """

    def __init__(self, A: np.ndarray, b: np.ndarray, C: np.ndarray, e: np.ndarray) -> None:
        import highspy

        self._faces, self._rows, self._right = len(b), np.vstack([A, C]), np.concatenate([b, e])
        self._columns = np.arange(A.shape[1], dtype=np.int32)
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._highs = highspy.Highs()
        for option, value in OPTIONS.items():
            self._highs.setOptionValue(option, value)
        self._highs.passModel(self._program())
        self._lock = threading.Lock()
        self.bounded = self._reach_every_side()
        self._start = self._highs.getBasis()

    def vertex(self, costs: np.ndarray) -> np.ndarray | None:
        """A vertex of least cost, or None where HiGHS fails."""
        with self._lock:
            self._highs.clearSolver()  # a basis is not all of its state
            self._highs.setBasis(self._start)
            return self._solve(costs)

    def _solve(self, costs: np.ndarray) -> np.ndarray | None:
        largest = np.abs(costs).max()
        if not np.isfinite(largest):
            return None
        # HiGHS's tolerances are absolute: bring the largest cost to [1/2, 1), exactly.
        scaled = np.ldexp(costs, -int(np.frexp(largest)[1]))
        self._highs.changeColsCost(len(costs), self._columns, scaled)
        self._highs.run()
        if self._highs.getModelStatus() != self._optimal:
            return None
        return np.array(self._highs.getSolution().col_value)

    def _reach_every_side(self) -> bool:
        """Whether every variable has a least and a largest value.

        A free variable enters the basis for its own objective and never leaves it again, so that
        from here on every basis is a vertex.
        """
        units = np.eye(len(self._columns))
        return all(self._solve(cost) is not None for unit in units for cost in (unit, -unit))

    def _program(self) -> Any:
        import highspy

        program = highspy.HighsLp()
        program.num_row_, program.num_col_ = self._rows.shape
        program.col_cost_ = np.zeros(program.num_col_)
        program.col_lower_ = np.full(program.num_col_, -highspy.kHighsInf)
        program.col_upper_ = np.full(program.num_col_, highspy.kHighsInf)
        is_face = np.arange(program.num_row_) < self._faces
        program.row_lower_ = np.where(is_face, -highspy.kHighsInf, self._right)
        program.row_upper_ = self._right
        row, column = np.nonzero(self._rows)
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = np.searchsorted(row, np.arange(program.num_row_ + 1))
        program.a_matrix_.index_ = column
        program.a_matrix_.value_ = self._rows[row, column]
        return program
