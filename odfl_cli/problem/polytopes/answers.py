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
    """The decisions of the first rows, and why there is none for the next one."""

    decisions: np.ndarray  # [≤ n, d]
    limited: list[int]  # rows in which the solver stopped at a limit of its own
    failure: str = ""


class Caller:
    """Calls `solve` for rows of costs, and says in one line what is wrong with an answer."""

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
        """What `solve` returns for rows [n, d]; what it prints goes to stderr."""
        with redirect_stdout(sys.stderr):
            return self._answer_rows(costs, [0]) if self._seconds is None else self._wait(costs)

    def _answer_rows(self, costs: np.ndarray, at: list[int]) -> Answers:
        """One question after another; `at` holds the row that is being answered."""
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
        """The same in a thread, which is left behind where a call takes too long."""
        answered: SimpleQueue[Answers] = SimpleQueue()
        at = [0]
        self._asked.put(lambda: answered.put(self._answer_rows(costs, at)))
        while True:
            row = at[0]
            try:
                return answered.get(timeout=self._seconds)
            except Empty:
                if row == at[0]:
                    del self._asked
                    reason = f"no answer within {self._seconds:g} s; polytope.seconds is the limit"
                    return Answers(np.empty((row, self._dimension)), [], reason)

    @cached_property
    def _asked(self) -> SimpleQueue[Callable[[], None]]:
        """Functions that a thread calls one after another."""
        asked: SimpleQueue[Callable[[], None]] = SimpleQueue()
        threading.Thread(target=_serve, args=(asked,), daemon=True).start()
        return asked

    def _check(self, found: Any, shape: tuple[int, ...]) -> np.ndarray:
        """The answer as finite numbers of that shape."""
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


def _serve(asked: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        asked.get()()


def name_kind(found: Any) -> str:
    """What it is, with an article."""
    name = type(found).__name__
    return "None" if found is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
