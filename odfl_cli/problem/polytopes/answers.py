"""Calls of a user's solver, checked and limited in time."""

import sys
import threading
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import cached_property
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from odfl_cli.core.errors import UserError, message


class Answers(NamedTuple):
    """The decisions of the first rows, and the reason if there is none for the next row."""

    decisions: np.ndarray  # [≤ n, d]
    limited: list[int]  # rows in which the solver stopped at its own limit
    failure: str = ""


class Caller:
    """Calls `solve` for rows of costs and validates its answers."""

    def __init__(
        self, solve: Callable[..., Any], dimension: int, batch: bool, seconds: float | None
    ) -> None:
        self._solve, self._dimension = solve, dimension
        self._batch, self._seconds = batch, seconds and min(seconds, threading.TIMEOUT_MAX)
        self.lock = threading.Lock()
        self.memo: dict[bytes, np.ndarray] = {}  # costs → decision
        self.limited: list[tuple[int, int]] = []  # (row, rows) in which a limit stopped the solver
        self.sum: float | None = None  # of the first decision

    def answer(self, costs: np.ndarray) -> Answers:
        """The answers of `solve` for rows [n, d]; its output goes to stderr."""
        with redirect_stdout(sys.stderr):
            return self._answer_rows(costs, [0]) if self._seconds is None else self._wait(costs)

    def _answer_rows(self, costs: np.ndarray, at: list[int]) -> Answers:
        """Calls `solve` row by row; at[0] is the current row."""
        decisions, limited = np.empty_like(costs), list[int]()
        questions = [costs] if self._batch else costs
        for row, question in enumerate(questions):
            at[0] = row
            try:
                found = self._check(self._solve(question.copy()), question.shape)
            except (Exception, SystemExit) as error:
                return Answers(decisions[:row], limited, message(error))
            decisions[... if self._batch else row] = found
            if getattr(self._solve, "limited", False):
                limited.append(row)
        return Answers(decisions, limited)

    def _wait(self, costs: np.ndarray) -> Answers:
        """The same in a thread, which is abandoned if a call takes too long."""
        answered: SimpleQueue[Answers] = SimpleQueue()
        at = [0]
        self._calls.put(lambda: answered.put(self._answer_rows(costs, at)))
        while True:
            row = at[0]
            try:
                return answered.get(timeout=self._seconds)
            except Empty:
                if row == at[0]:
                    del self._calls
                    reason = f"no answer within {self._seconds:g} s; polytope.seconds is the limit"
                    return Answers(np.empty((row, self._dimension)), [], reason)

    @cached_property
    def _calls(self) -> SimpleQueue[Callable[[], None]]:
        """A queue of functions that a thread calls one after another."""
        calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        threading.Thread(target=_serve, args=(calls,), daemon=True).start()
        return calls

    def _check(self, found: Any, shape: tuple[int, ...]) -> np.ndarray:
        """The answer as an array of that shape; raises a UserError if it is none or not finite."""
        try:
            numbers = np.asarray(found, dtype=np.float64)
        except (TypeError, ValueError):
            numbers = np.empty(())
        if numbers.ndim != len(shape):
            kind = "rows of decisions" if self._batch else "a decision"
            raise UserError(
                f"returned {name_kind(found)}; {kind} of {self._dimension} numbers should be returned"
            )
        if numbers.shape != shape:
            lengths = [" × ".join(map(str, lengths)) for lengths in (numbers.shape, shape)]
            raise UserError(f"returned {lengths[0]} numbers; {lengths[1]} are needed")
        if not (finite := np.isfinite(numbers)).all():
            raise UserError(f"returned {numbers[~finite][0]}, which is not finite")
        return numbers


def _serve(calls: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        calls.get()()


def name_kind(found: Any) -> str:
    """The type of a value with an article."""
    name = type(found).__name__
    return "None" if found is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
