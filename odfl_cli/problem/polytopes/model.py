"""A decision set from a linear or mixed-integer model in a file, solved by HiGHS."""

from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import NonNegative, Positive, settings
from odfl_cli.core.text import did_you_mean
from odfl_cli.problem.polytopes.highs import EXACT, import_highs
from odfl_cli.problem.polytopes.solver import SolverSet

SUFFIXES = (".mps", ".lp", ".mps.gz", ".lp.gz")
GZIP = b"\x1f\x8b"
FEW, LARGEST_FILE = 5, 100 * 2**20
FEASIBLE = 2  # HiGHS's number for a solution that satisfies all constraints
OPTIONS: dict[str, bool | int | float | str] = {
    "output_flag": False,
    "parallel": "off",  # several threads do not always find the same solution
    "primal_feasibility_tolerance": EXACT,
    "dual_feasibility_tolerance": EXACT,
    "mip_feasibility_tolerance": EXACT,
    "mip_abs_gap": EXACT,
}


@settings
class Model(SolverSet):
    """The solutions of the model in `file`, .mps or .lp, perhaps gzipped.

    `variables` are the decision variables, by name in this order, or by a pattern such as x*; null:
    all. Their costs are those of the round, which are minimised. Other variables, such as slack or
    flow, keep their costs in the file.

    Every solve starts at the first solution, so that a seed's numbers do not depend on the others;
    `start` = last starts at the last solution, which may resolve ties differently. A solve that ends
    at `seconds` or `gap`, the relative gap of integer solutions, is counted in the column solver_limits.
    """

    file: Annotated[str, Field(min_length=1)]
    variables: tuple[str, ...] | str | None = None
    gap: NonNegative = 0.0
    seconds: Positive | None = None
    start: Literal["first", "last"] = "first"
    constant_sum: Annotated[bool, Field(strict=True)] | None = None
    limits_itself = True
    name = "polytope.file"

    def __post_init__(self) -> None:
        _ = self.dimension

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """d, the number of decision variables."""
        return self.solve.dimension

    @cached_property
    def solve(self) -> "Program":  # type: ignore[override]
        """Costs → the values of the variables."""
        return Program(self.file, self.variables, self.gap, self.seconds, self.start == "last")

    @property
    def independent(self) -> bool:  # type: ignore[override]
        """False if solves start at the last solution."""
        return self.start == "first"

    @property
    def counts_limits(self) -> bool:
        """True if there is a limit."""
        return self.seconds is not None or self.gap > 0


class Program:
    """A model with changing costs. Other processes read the file again."""

    def __init__(
        self, file: str, variables: Any, gap: float, seconds: float | None, hot: bool
    ) -> None:
        self._settings = file, variables, gap, seconds, hot
        self._file, self._hot, self.limited = file, hot, False
        self._highs = _read(file)
        for option, value in (OPTIONS | {"mip_rel_gap": gap}).items():
            self._highs.setOptionValue(option, value)
        lp = self._highs.getLp()
        self._columns = self._choose(list(lp.col_names_), variables)
        self.dimension = len(self._columns)
        kinds = list(lp.integrality_) or ["kContinuous"] * lp.num_col_
        integer = np.array([str(kind).endswith("kInteger") for kind in kinds])
        self._integer = integer[self._columns]
        self._is_mip = bool(integer.any())
        self._keep_other_costs(lp)
        self._check_bounds(lp)
        self._start = self._highs.getBasis(), self._highs.getSolution()
        if seconds is not None:
            self._highs.setOptionValue("time_limit", seconds)

    def __reduce__(self) -> tuple[Any, ...]:
        return Program, self._settings

    def __call__(self, costs: np.ndarray) -> np.ndarray:
        """The values of the variables in a solution of least cost, [d]."""
        if not self._hot:
            self._highs.clearSolver()  # a basis is not all of its state
            basis, solution = self._start
            _ = self._highs.setSolution(solution) if self._is_mip else self._highs.setBasis(basis)
        self._change_costs(costs)
        status, info = self._run(), self._highs.getInfo()
        stopped = status == "Time limit reached"
        if status != "Optimal" and not stopped:
            raise UserError(f"HiGHS found no solution ({status})")
        self.limited = stopped or (self._is_mip and info.mip_gap > EXACT)
        nothing = stopped and info.primal_solution_status != FEASIBLE
        solution = self._start[1] if nothing else self._highs.getSolution()
        w = np.array(solution.col_value)[self._columns]
        return np.where(self._integer, np.round(w), w) + 0.0  # no −0

    def _run(self) -> str:
        self._highs.run()
        return self._highs.modelStatusToString(self._highs.getModelStatus())

    def _change_costs(self, costs: np.ndarray) -> None:
        self._highs.changeColsCost(len(costs), self._columns, np.ascontiguousarray(costs))

    def _choose(self, names: list[str], variables: Any) -> np.ndarray:
        """The columns of the decision variables."""
        if variables is None or isinstance(variables, str):
            pattern = variables or "*"
            chosen = [i for i, name in enumerate(names) if fnmatchcase(name, pattern)]
            if not chosen:
                raise self._refusal(
                    f"no variable fits polytope.variables={pattern}; there are {', '.join(names[:FEW])}, …"
                )
            return np.array(chosen, dtype=np.int32)
        numbers = {name: i for i, name in enumerate(names)}
        for name in variables:
            if name not in numbers:
                near = did_you_mean(name, get_close_matches(name, names) or names[:FEW])
                raise self._refusal(f"there is no variable {name}; {near}")
        if len(set(variables)) < len(variables):
            raise self._refusal("a variable is named twice")
        return np.array([numbers[name] for name in variables], dtype=np.int32)

    def _keep_other_costs(self, lp: Any) -> None:
        """Minimises the file's costs, negated if it maximises, with 0 for the decision variables."""
        costs = np.array(lp.col_cost_) * (-1.0 if "kMaximize" in str(lp.sense_) else 1.0)
        costs[self._columns] = 0.0
        self._highs.changeObjectiveSense(import_highs().ObjSense.kMinimize)
        self._highs.changeColsCost(len(costs), np.arange(len(costs), dtype=np.int32), costs)

    def _check_bounds(self, lp: Any) -> None:
        """Raises for a model that is infeasible or has an unbounded decision variable."""
        unbounded = {"Unbounded", "Primal infeasible or unbounded"}
        lower, upper = np.array(lp.col_lower_), np.array(lp.col_upper_)
        reasons = {"Infeasible": "the model is infeasible"}
        reasons |= dict.fromkeys(unbounded, "the costs of the other variables are unbounded below")
        if (status := self._run()) != "Optimal":
            raise self._refusal(reasons.get(status, f"HiGHS found no solution ({status})"))
        for place, column in enumerate(self._columns):
            for bound, sign in ((lower[column], 1.0), (upper[column], -1.0)):
                if np.isfinite(bound):
                    continue
                self._change_costs(sign * np.eye(self.dimension)[place])
                if self._run() in unbounded:
                    raise self._refusal(
                        f"the model is unbounded: {lp.col_names_[column]} has no limit"
                    )
        self._change_costs(np.zeros(self.dimension))
        self._highs.clearSolver()
        self._run()

    def _refusal(self, reason: str) -> UserError:
        return UserError(f"polytope.file={self._file}: {reason}")


def _read(file: str) -> Any:
    """The model in the file; raises a UserError if it cannot be read."""
    path, refuse = Path(file), lambda reason: UserError(f"polytope.file={file}: {reason}")
    if not file.lower().endswith(SUFFIXES):
        raise refuse("the name should end in .mps or .lp, perhaps with .gz")
    if not path.is_file():
        raise refuse("there is no such file")
    size = path.stat().st_size
    if size <= LARGEST_FILE and (content := path.read_bytes()).startswith(GZIP):
        size = int.from_bytes(content[-4:], "little")  # of what was packed
    if size > LARGEST_FILE:
        raise refuse(f"more than {LARGEST_FILE >> 20} MB; a set is solved in every round")
    highspy = import_highs()
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    if highs.readModel(file) == highspy.HighsStatus.kError or not highs.getNumCol():
        raise refuse("not a model that HiGHS can read")
    return highs
