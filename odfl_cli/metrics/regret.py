"""Regret as the paper defines it: expected costs, static and dynamic comparators."""

import logging
from collections.abc import Hashable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.core.cores import on_threads
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import Integer, PositiveInt, settings
from odfl_cli.core.text import did_you_mean
from odfl_cli.environments.base import Environment, known_law, switches_of
from odfl_cli.metrics.base import (
    BasicRecorder,
    PlayedBlock,
    Recorder,
    RoundStart,
    Run,
    by_seed,
    standard_columns,
    standard_notes,
)
from odfl_cli.metrics.comparators import evenly_spaced, random_starts
from odfl_cli.metrics.expected import Expected, ExpectedCosts, Infimum, interpolated_sums
from odfl_cli.metrics.hindsight import Effort, Hindsight, measure_hindsight
from odfl_cli.metrics.losses import losses_for
from odfl_cli.metrics.played import PlayedRounds, Plays
from odfl_cli.metrics.theory.bound import bound, bound_report, constants_by_seed, has_bound
from odfl_cli.metrics.theory.margin import margin_report
from odfl_cli.metrics.theory.oracle_report import VALUES, OracleExaminer, calls_an_oracle
from odfl_cli.metrics.theory.theorems import broken_assumptions
from odfl_cli.problem.polytopes.linear import check_faces
from odfl_cli.problem.problem import UNBOUNDED, Horizon

NO_LAW = (
    "the law of the data is not known: "
    "dynamic regret is against the best θ in hindsight between two evaluation rounds"
)
NOT_COVERED = (
    "Theorem 2 needs step sizes that never rise, and these rose: costs and regrets are right, "
    "but the column `bound` is no guarantee"
)

NOTES = ("alpha", "eta", "path_length")
"""Notes of the paper's algorithms; the columns are empty if an algorithm lacks one."""
REGRETS = ("expected_cost", "static_regret", "expected_static_regret", "dynamic_regret")
LAW_COLUMNS = ("expected_cost", "expected_static_regret")
HINDSIGHT_STEP_FACTOR = 2  # realised costs take more steps to search: their minima are narrower

log = logging.getLogger("odfl")


@settings
class Regret:
    """The basic columns, and regret at `evaluations` rounds; `notes` are columns of the algorithm."""

    sample: Annotated[Integer, Field(ge=2)] = 2000
    evaluations: Annotated[Integer, Field(ge=2)] = 32
    starts: Annotated[Integer, Field(ge=3)] = 8
    steps: PositiveInt = 16
    repeats: Annotated[Integer, Field(ge=2)] = 3
    lines: Annotated[Integer, Field(ge=0)] = 0
    notes: tuple[str, ...] = NOTES
    theta_norm: bool = False
    bound: bool = True
    oracle: Annotated[Integer, Field(ge=0)] = 0
    margin: bool = False

    def effort(self) -> Effort:
        """The budget of the search for the best fixed parameter in hindsight."""
        return Effort(self.repeats, HINDSIGHT_STEP_FACTOR * self.steps, self.lines)

    def columns(self, environment: Environment, algorithm: Algorithm) -> tuple[str, ...]:
        if algorithm.problem.kappa_rule == "worst":
            raise UserError("kappa_rule=worst: regret is not known for it; choose metrics=basic")
        law = known_law(environment) is not None
        regrets = [name for name in REGRETS if law or name not in LAW_COLUMNS]
        optional = {"theta_norm": self.theta_norm, "bound": self.bound and has_bound(algorithm)}
        asked = [name for name, wanted in optional.items() if wanted]
        examined = VALUES if self.oracle and calls_an_oracle(algorithm) else ()
        standard = standard_notes(algorithm)
        basic = standard_columns(environment, algorithm)
        columns = (*basic, *regrets, *asked, *examined)
        self._check_notes(algorithm, {*columns, *REGRETS, *VALUES} - set(standard))
        chosen = [name for name in self.notes if name in algorithm.noted and name not in standard]
        return (*columns, *chosen)

    def _check_notes(self, algorithm: Algorithm, taken: set[str]) -> None:
        """Raises for notes that nothing writes, or that would replace a column of the metrics."""
        known = [name for name in {*NOTES, *algorithm.noted} if name not in taken]
        for name in self.notes:
            if name not in known:
                hint = did_you_mean(name, sorted(known))
                raise UserError(f"metrics.notes: {name} is no note of {algorithm.name}; {hint}")

    def recorder(self, run: Run) -> "RegretRecorder":
        return RegretRecorder(self, run)


def evaluation_rounds(horizon: Horizon, count: int) -> np.ndarray:
    """About `count` of the logged rounds, half evenly and half log-spaced, first and last included."""
    logged = horizon.logged()
    wanted = Horizon(rounds=horizon.rounds, rows=count).logged()
    return np.unique(logged[np.searchsorted(logged, wanted)])


class Comparators(NamedTuple):
    """The comparators of the costs of one seed; they do not depend on the decisions played."""

    infimum: Infimum | None  # where the law is known
    hindsight: Hindsight


@lru_cache(maxsize=1024)
def comparator_cache(*key: Hashable) -> list[Comparators]:
    """A list that keeps the comparators of a seed for later runs of the same rounds in this process; empty at first."""
    return []


def both_sides(switches: list[int], most: int) -> np.ndarray:
    """The last round before and the first round after each of the switches, or of `most` among them.

    Costs are interpolated between evaluation rounds, and no interpolation may cross a switch.
    """
    places = np.linspace(0, len(switches) - 1, min(len(switches), most)).round().astype(int)
    after = np.array(switches, dtype=np.int64)[places]
    return np.concatenate([after - 1, after])


def stack_records(records: Sequence[Any]) -> Any:
    """One record of arrays [S, …] from those of the seeds."""
    return type(records[0])(*map(np.stack, zip(*records, strict=True)))


class RegretRecorder(Recorder):
    """Records a run, and measures its regret once it is over, seed by seed."""

    def __init__(self, choice: Regret, run: Run) -> None:
        environment, algorithm, horizon, seeds = run
        if choice.margin:
            check_faces(
                algorithm.problem.polytope, "metrics.margin=true", "choose metrics.margin=false"
            )
        self._choice, self._run, self._logged = choice, run, horizon.logged()
        self._evaluated = evaluation_rounds(horizon, choice.evaluations)
        switches = switches_of(environment, horizon.rounds)
        self._times = np.union1d(self._evaluated, both_sides(switches, choice.evaluations))
        self._reported = np.searchsorted(self._times, self._evaluated)
        standard = standard_notes(algorithm)
        self._others = tuple(name for name in algorithm.noted if name not in standard)
        self._basic = BasicRecorder(self._logged, (*standard, *self._others))
        self._plays = Plays(algorithm)
        self._oracle = OracleExaminer(algorithm, self._evaluated, len(seeds), choice.oracle)
        self.watched = self._times
        self._played = PlayedRounds(environment, seeds, horizon.rounds)
        self._law = known_law(environment)
        losses_for(algorithm.problem)  # loads what is compiled, before the rounds are timed
        self._report: dict[str, Any] = {}

    def watch(self, before: RoundStart) -> None:
        self._plays.watch(before)
        self._oracle.watch(before)

    def add(self, block: PlayedBlock) -> None:
        self._basic.add(block)
        self._played.add(block.start, block.rounds)

    def table(self) -> dict[str, np.ndarray]:
        """All columns; those of regret are NaN except at the evaluation rounds."""
        table = self._basic.table()
        notes = {name: table.pop(name) for name in self._others}
        rows = np.searchsorted(self._logged, self._evaluated)
        paid = (table["avg_cost"] * table["t"])[:, rows]
        played, found = zip(*on_threads(self._measure, len(self._run.seeds)), strict=True)
        hindsight = stack_records([one.hindsight for one in found])
        expected = infimum = None
        if self._law:
            expected, infimum = map(stack_records, (played, [one.infimum for one in found]))
        columns = self._regrets(paid, expected, infimum, hindsight) | self._oracle.columns()
        at_rows = {name: values[:, rows] for name, values in notes.items()}
        bounds, constants = self._bound(at_rows, columns.get("xi"))
        for name, values in (columns | bounds).items():
            table[name] = np.full_like(table["cost"], np.nan)
            table[name][:, rows] = values
        for name in self._choice.notes:
            table.setdefault(name, notes.get(name, np.full_like(table["cost"], np.nan)))
        self._report = (
            self._errors(expected, infimum, hindsight) | constants | self._oracle.report()
        )
        self._report |= self._remarks(broken_assumptions(notes, self._logged))
        return table

    def report(self) -> dict[str, Any]:
        return self._report

    def _measure(self, row: int) -> tuple[Expected | None, Comparators]:
        """The expected costs, where the law is known, and the comparators of seed number `row`."""
        choice, seed, known = self._choice, self._run.seeds[row], self._cached(row)
        losses = losses_for(self._run.algorithm.problem.rows(slice(row, row + 1)))
        near, expected, infimum = np.empty((0, losses.problem.parameters)), None, None
        if self._law:
            starts = random_starts(losses.problem, seed, choice.starts)
            size, steps = choice.sample, choice.steps
            costs = ExpectedCosts(self._law, losses, seed, self._times, size, steps, starts)
            expected = costs.measure(self._plays, row)
        if not known:
            if self._law:
                infimum = costs.search()
                near = evenly_spaced(infimum.thetas, 1)
            given = losses, self._played, row, self._evaluated, near
            known.append(Comparators(infimum, measure_hindsight(*given, choice.effort())))
        return expected, known[0]

    def _cached(self, row: int) -> list[Comparators]:
        """The cache of the comparators of seed number `row`; a new one if parts cannot be compared."""
        environment, algorithm, horizon, seeds = self._run
        problem, choice = algorithm.problem, self._choice
        parts = environment, problem.predictor, problem.polytope, problem.regularizer
        searched = choice.sample, choice.evaluations, choice.starts, choice.steps, choice.effort()
        key: Any = (seeds[row], *parts, problem.theta_set, horizon, *searched)
        valued = all(type(part).__eq__ is not object.__eq__ for part in parts)
        with suppress(TypeError):  # a user's part that has no hash
            return comparator_cache(*key) if self._law and valued else []
        return []

    def _regrets(
        self, paid: np.ndarray, expected: Any, infimum: Any, hindsight: Hindsight
    ) -> dict[str, np.ndarray]:
        """The columns of regret at the evaluation rounds, [S, E]."""
        columns = dict.fromkeys(REGRETS, np.full_like(paid, np.nan))
        columns["static_regret"] = paid - hindsight.best_fixed
        columns["dynamic_regret"] = paid - hindsight.best_pieces
        if expected:
            static = interpolated_sums(self._times, expected.cost) - infimum.best_fixed
            dynamic = interpolated_sums(self._times, expected.cost - infimum.best)
            columns["expected_cost"] = expected.cost[:, self._reported]
            columns["expected_static_regret"] = static[:, self._reported]
            columns["dynamic_regret"] = dynamic[:, self._reported]
        if self._choice.theta_norm:
            thetas = self._plays.thetas[:, self._reported]
            columns["theta_norm"] = np.sqrt((thetas**2).sum(-1))
        return columns

    def _bound(
        self, notes: dict[str, np.ndarray], xi: np.ndarray | None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The column `bound`, if asked for, and the report on its constants, if a theorem applies."""
        _, algorithm, horizon, seeds = self._run
        if not self._choice.bound or not has_bound(algorithm):
            return dict.fromkeys(["bound"] * self._choice.bound, np.array(np.nan)), {}
        constants = constants_by_seed(algorithm.problem, self._played, horizon.rounds)
        column = bound(algorithm, constants, self._evaluated, notes, xi)
        return {"bound": column}, bound_report(seeds, constants, xi)

    def _errors(self, expected: Any, infimum: Any, hindsight: Hindsight) -> dict[str, Any]:
        """The comparators and the errors of the expected costs, by seed."""
        T, seeds = self._run.horizon.rounds, self._run.seeds
        fixed = {
            "kind": "best fixed parameter found on the realised rounds: static regret is at least this",
            "value": by_seed(seeds, hindsight.best_fixed[:, -1] / T),
            "uncertainty": by_seed(seeds, hindsight.uncertainty),
        }
        if not expected:
            pieces = by_seed(seeds, hindsight.best_pieces[:, -1] / T)
            kind = "realised: best parameter in hindsight between evaluation rounds"
            return {"comparator": {"kind": kind, "value": pieces}, "hindsight": fixed}
        comparator = {
            "kind": "law: infimum of the expected cost",
            "value": by_seed(seeds, infimum.best[:, -1]),
            "uncertainty": by_seed(seeds, infimum.uncertainty.max(-1)),
        }
        errors = by_seed(seeds, expected.error)
        return {"comparator": comparator, "hindsight": fixed, "expected_cost_error": errors}

    def _remarks(self, broken: list[str]) -> dict[str, Any]:
        """Assumptions that do not hold, which are logged too, the margins, and remarks in words."""
        environment, algorithm, _, seeds = self._run
        for line in broken:
            log.info("%s: %s", algorithm.name, line)
        chosen, bounded = self._choice.margin, algorithm.problem.theta_set.radius < UNBOUNDED
        margins = margin_report(environment, algorithm.problem, seeds) if chosen else {}
        remarks = [
            *([] if self._law else [NO_LAW]),
            *([NOT_COVERED] if broken and self._choice.bound and bounded else []),
        ]
        return {"broken_assumptions": broken, **margins, "remarks": remarks}
