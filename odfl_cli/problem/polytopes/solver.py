"""A decision set given by a solver, any function from costs to a decision of least cost."""

import pkgutil
from collections.abc import Callable
from functools import cached_property, partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, Field, SkipValidation

from odfl_cli.core.arrays import Array, on_rows
from odfl_cli.core.errors import RowError, UserError, message
from odfl_cli.core.settings import Positive, PositiveInt, settings
from odfl_cli.problem.polytopes.answers import Caller, name_kind

MEMO_BYTES = 2**26  # the memory for stored answers, about
ROUNDING = 1e-9  # the tolerance for equal sums of decisions


class SolverSet:
    """W given by the answers of `solve`; its faces are unknown. The latest answers are stored by the bytes of the costs."""

    solve: Callable[[np.ndarray], Any]
    sense: str = "min"
    batch: bool = False
    seconds: float | None = None
    dimension: int
    constant_sum: bool | None
    independent: bool = True
    """Whether an answer depends on its costs alone, so that any process may compute it."""
    limits_itself: ClassVar[bool] = False
    """Whether the solver stops by itself after `seconds`."""
    name: ClassVar[str] = "polytope.solve"

    def minimise(self, costs: Array) -> Array:
        """The checked answers of `solve` for the costs over the last axis, [..., d]."""
        return on_rows(self.minimise_rows, costs)

    def minimise_rows(self, costs: np.ndarray) -> np.ndarray:
        """The same for rows [N, d], one call per row unless `batch`."""
        memo, keys = self._caller.memo, [row.tobytes() for row in costs]
        with self._caller.lock:  # metrics may ask from several threads
            missing: dict[bytes, int] = {}
            for row, key in enumerate(keys):
                if key not in memo:
                    missing.setdefault(key, row)
            if missing:
                memo.update(zip(missing, self._ask(costs, list(missing.values())), strict=True))
            w = np.array([memo[key] for key in keys])
            while len(memo) * (16 * self.dimension + 200) > MEMO_BYTES:
                del memo[next(iter(memo))]  # the oldest
        return w

    def take_limited(self, parts: int) -> np.ndarray:
        """The number of solves stopped by a limit since the last call, by equal parts of the rows, [parts]."""
        counts = np.zeros(parts)
        for row, rows in self._caller.limited:
            counts[row * parts // rows] += 1
        self._caller.limited.clear()
        return counts

    @property
    def answers(self) -> dict[bytes, np.ndarray]:
        """The stored answers, by the bytes of the costs."""
        return self._caller.memo

    def remember(self, answers: dict[bytes, np.ndarray]) -> None:
        """Stores answers of another process."""
        self._caller.memo.update(answers)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_caller"}

    def _ask(self, costs: np.ndarray, places: list[int]) -> np.ndarray:
        """The answers for some rows; raises a RowError for the first row without one."""
        caller = self._caller
        found = caller.answer(-costs[places] if self.sense == "max" else costs[places])
        caller.limited.extend((places[i], len(costs)) for i in found.limited)
        failure, row = found.failure, len(found.decisions)
        if self.constant_sum and not failure:
            sums = found.decisions.sum(axis=1)
            caller.sum = expected = float(sums[0]) if caller.sum is None else caller.sum
            wrong = np.abs(sums - expected) > ROUNDING * max(1.0, abs(expected))
            if wrong.any():
                row = int(wrong.argmax())
                failure = f"a decision has the sum {sums[row]:g} and another {expected:g}; constant_sum=true says that all are equal"
        if failure:
            raise RowError(places[row], len(costs), f"{self.name}: {failure}")
        return found.decisions

    @cached_property
    def _caller(self) -> Caller:
        seconds = None if self.limits_itself else self.seconds
        return Caller(self.solve, self.dimension, self.batch, seconds)


def _load(solve: Any) -> Any:
    """The function with a name such as `package.function`; other values unchanged."""
    if not isinstance(solve, str):
        return solve
    try:
        found = pkgutil.resolve_name(solve)
    except ModuleNotFoundError as error:
        hint = "start odfl in the directory that holds it"
        raise ValueError(f"there is no module {error.name} here; {hint}") from error
    except (Exception, SystemExit) as error:  # of the user's module
        raise ValueError(f"cannot be imported ({message(error)})") from error
    if not callable(found):
        raise ValueError(f"is {name_kind(found)}; a function of the costs is needed")
    return found


@settings
class Solver(SolverSet):
    """W given by a function of your own from costs [d] to a w [d] of least ⟨costs, w⟩.

    `sense` = max: the function maximises and is called with −costs. `batch`: it maps rows [n, d] to
    rows. `constant_sum`: whether all decisions have the same sum, null if unknown. `seconds`: the
    time limit of one call.
    """

    dimension: PositiveInt
    solve: Annotated[SkipValidation[Callable[..., Any]], BeforeValidator(_load)]
    sense: Literal["min", "max"] = "min"
    batch: Annotated[bool, Field(strict=True)] = False
    constant_sum: Annotated[bool, Field(strict=True)] | None = None
    seconds: Positive | None = 60.0


def as_decision_set(part: Any, items: int) -> Any:
    """Converts a model of PyEPO, a function or an object with `minimise` to a decision set."""
    if hasattr(part, "setObj") and hasattr(part, "solve"):
        sense: Any = "max" if part.modelSense == -1 else "min"
        return Solver(dimension=part.num_cost, solve=partial(_solve_pyepo, part), sense=sense)
    if hasattr(part, "minimise"):
        # by the class first: to compute a property may take long
        if all(hasattr(type(part), n) or hasattr(part, n) for n in ("dimension", "constant_sum")):
            return part
        return Solver(dimension=getattr(part, "dimension", items), solve=part.minimise)
    if not callable(part):
        raise UserError(
            f"polytope: {type(part).__name__} is no decision set; give one with minimise and "
            "dimension, a function from costs to a decision, or a model of PyEPO"
        )
    return Solver(dimension=items, solve=part)


def _solve_pyepo(model: Any, costs: np.ndarray) -> Any:
    """The solution of an optModel for the costs."""
    model.setObj(costs)
    return model.solve()[0]
