"""Regret as the paper defines it: expected costs, static and dynamic comparators."""

import logging
from collections.abc import Iterable
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from odfl_cli.algorithms import Algorithm
from odfl_cli.core.cores import on_threads
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import Integer, PositiveInt, settings
from odfl_cli.core.text import did_you_mean
from odfl_cli.engine.base import NO_ROUNDS
from odfl_cli.environments.base import Environment, known_law, switches_of
from odfl_cli.metrics.base import (
    COLUMNS,
    BasicRecorder,
    PlayedBlock,
    RoundStart,
    Run,
    by_seed,
    standard_notes,
)
from odfl_cli.metrics.comparators import always_scored, scatter, spread_out
from odfl_cli.metrics.expected import Expected, ExpectedCosts, sum_up_to
from odfl_cli.metrics.hindsight import Hindsight, PlayedRounds, in_hindsight
from odfl_cli.metrics.losses import Plays, losses_for
from odfl_cli.metrics.regret_bound import bound, bound_report, has_bound, measured_constants
from odfl_cli.metrics.search import Effort
from odfl_cli.metrics.theory.margin import margin_report
from odfl_cli.metrics.theory.oracle_report import VALUES, OracleNotes, calls_an_oracle
from odfl_cli.metrics.theory.theorems import broken_assumptions
from odfl_cli.problem.problem import Horizon

NO_LAW = (
    "the law of the data is not known: "
    "dynamic regret is against the best θ in hindsight between two evaluation rounds"
)
NOT_COVERED = (
    "Theorem 2 asks for step sizes that never rise, and they did: costs and regrets are as measured, "
    "only the column `bound` is no guarantee for them"
)

NOTES = ("alpha", "eta", "path_length")
"""Notes of the paper's algorithms; the columns are empty where an algorithm lacks one."""
REGRETS = ("expected_cost", "static_regret", "expected_static_regret", "dynamic_regret")
OF_THE_LAW = ("expected_cost", "expected_static_regret")

FINER = 2
"""Realised costs are searched in so many times the steps: their minima are narrower."""

SCORED = 3
"""So many of the parameters that were played are comparators in hindsight themselves."""

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
        """For the best fixed parameter in hindsight."""
        return Effort(self.repeats, FINER * self.steps, self.lines)

    def columns(self, environment: Environment, algorithm: Algorithm) -> tuple[str, ...]:
        """Those of every run, those of regret, and what was asked for besides."""
        law = known_law(environment) is not None
        regrets = [name for name in REGRETS if law or name not in OF_THE_LAW]
        optional = {"theta_norm": self.theta_norm, "bound": self.bound and has_bound(algorithm)}
        asked = [name for name, wanted in optional.items() if wanted]
        examined = VALUES if self.oracle and calls_an_oracle(algorithm) else ()
        standard = standard_notes(algorithm)
        own = (*COLUMNS, *standard, *regrets, *asked, *examined)
        self._check_notes(algorithm, {*own, *REGRETS, *VALUES} - set(standard))
        chosen = [name for name in self.notes if name in algorithm.noted and name not in standard]
        return (*own, *chosen)

    def _check_notes(self, algorithm: Algorithm, taken: set[str]) -> None:
        """Refuses notes that nothing writes, or that would replace a column of the metrics."""
        known = [name for name in {*NOTES, *algorithm.noted} if name not in taken]
        for name in self.notes:
            if name not in known:
                hint = did_you_mean(name, sorted(known))
                raise UserError(f"metrics.notes: {name} is no note of {algorithm.name}; {hint}")

    def recorder(self, run: Run) -> "RegretMetrics":
        """Measures by the environment's law where it is known."""
        return RegretMetrics(self, run)


def evaluation_rounds(horizon: Horizon, count: int) -> np.ndarray:
    """About `count` of the logged rounds, half evenly and half log-spaced, first and last included."""
    logged = horizon.logged()
    wanted = Horizon(rounds=horizon.rounds, rows=count).logged()
    return np.unique(logged[np.searchsorted(logged, wanted)])


def both_sides(switches: list[int], most: int) -> np.ndarray:
    """The last round before and the first round after each of the switches, or of `most` among them.

    Costs are interpolated between evaluation rounds, and no interpolation may cross a switch.
    """
    places = np.linspace(0, len(switches) - 1, min(len(switches), most)).round().astype(int)
    after = np.array(switches, dtype=np.int64)[places]
    return np.concatenate([after - 1, after])


class RegretMetrics:
    """Records a run, and measures its regret once it is over, seed by seed."""

    def __init__(self, choice: Regret, run: Run) -> None:
        seeds, environment, algorithm = run.seeds, run.environment, run.algorithm
        self._evaluated = evaluation_rounds(run.horizon, choice.evaluations)
        switches = switches_of(environment, run.horizon.rounds)
        self._times = np.union1d(self._evaluated, both_sides(switches, choice.evaluations))
        self._choice, self._seeds = choice, seeds
        self._logged = run.horizon.logged()
        standard = standard_notes(algorithm)
        self._others = tuple(name for name in algorithm.noted if name not in standard)
        self._basic = BasicRecorder(len(seeds), self._logged, (*standard, *self._others))
        self._plays = Plays(algorithm)
        self._oracle = OracleNotes(algorithm, self._evaluated, len(seeds), choice.oracle)
        by_state = self._plays.by_state
        self.watched = self._times if by_state else self._oracle.examined
        self.asked = NO_ROUNDS if by_state else self._times
        self._environment, self._algorithm = environment, algorithm
        self._played = PlayedRounds(environment, seeds, run.horizon.rounds)
        self._law = known_law(environment)
        losses_for(algorithm.problem)  # loads what is compiled, before the rounds are timed
        self._report: dict[str, Any] = {}

    def watch(self, before: RoundStart) -> None:
        """Keeps what is played in round t, and may examine the oracle."""
        if self._plays.by_state:
            self._plays.add_state(before.state)
        self._oracle.watch(before)

    def add(self, block: PlayedBlock) -> None:
        """Keeps the block's rounds and what is played in some of them."""
        self._basic.add(block)
        if not self._plays.by_state:
            self._plays.add(block.trace.thetas)
        self._played.add(block.start, block.rounds)

    def table(self) -> dict[str, np.ndarray]:
        """All columns; those of regret hold NaN except at the evaluation rounds."""
        table = self._basic.table()
        noted = {name: table.pop(name) for name in self._others}
        rows = np.searchsorted(self._logged, self._evaluated)
        paid = (table["avg_cost"] * table["t"])[:, rows]
        measured = on_threads(self._measure, len(self._seeds))
        columns = self._columns(paid, measured) | self._oracle.columns()
        at_rows = {name: values[:, rows] for name, values in noted.items()}
        bounds, constants = self._bound(at_rows, columns.get("xi"))
        columns |= bounds
        for name, values in columns.items():
            table[name] = np.full_like(table["cost"], np.nan)
            table[name][:, rows] = values
        for name in self._choice.notes:
            table.setdefault(name, noted.get(name, np.full_like(table["cost"], np.nan)))
        broken = broken_assumptions(noted, self._logged)
        for line in broken:
            log.info("%s: %s", self._algorithm.name, line)
        remarks = [*([] if self._law else [NO_LAW]), *([NOT_COVERED] if broken else [])]
        self._report = self._reported(measured) | constants | self._oracle.report()
        self._report["broken_assumptions"] = broken
        if self._choice.margin:
            problem = self._algorithm.problem
            self._report |= margin_report(self._environment, problem, self._seeds)
        self._report["remarks"] = remarks
        return table

    def report(self) -> dict[str, Any]:
        """The errors of the expected costs and of the comparators; complete after `table`."""
        return self._report

    def _measure(self, row: int) -> tuple[Expected | None, Hindsight]:
        seed, thetas = self._seeds[row], self._plays.thetas[row]
        near = spread_out(thetas, 1)
        losses = losses_for(self._algorithm.problem.rows(slice(row, row + 1)))
        scattered = scatter(losses.problem, seed, self._choice.starts)
        expected = None
        if self._law:
            expected = ExpectedCosts(
                self._law, losses, self._times, self._choice.sample, self._choice.steps
            ).of(self._plays, row, seed, scattered)
            near = np.concatenate([near, spread_out(expected.thetas, 1)])
        hindsight = in_hindsight(
            losses,
            self._played,
            row,
            self._evaluated,
            near,
            always_scored(thetas, SCORED),
            self._choice.effort(),
        )
        return expected, hindsight

    def _columns(
        self, paid: np.ndarray, measured: list[tuple[Expected | None, Hindsight]]
    ) -> dict[str, np.ndarray]:
        """The columns of regret at the evaluation rounds, [S, E]."""
        nothing = np.full_like(paid, np.nan)
        fixed = paid - np.stack([hindsight.best_fixed for _, hindsight in measured])
        expected = [seed for seed, _ in measured if seed]
        if expected:
            reported = np.searchsorted(self._times, self._evaluated)
            cost = np.stack([seed.cost for seed in expected])
            total = sum_up_to(self._times, cost)
            expected_fixed = (total - np.stack([seed.best_fixed for seed in expected]))[:, reported]
            best = np.stack([seed.best for seed in expected])
            dynamic = sum_up_to(self._times, cost - best)[:, reported]
            cost = cost[:, reported]
        else:
            cost, expected_fixed = nothing, nothing
            dynamic = paid - np.stack([hindsight.best_pieces for _, hindsight in measured])
        columns = {
            "expected_cost": cost,
            "static_regret": fixed,
            "expected_static_regret": expected_fixed,
            "dynamic_regret": dynamic,
        }
        if self._choice.theta_norm:
            reported = np.searchsorted(self._times, self._evaluated)
            columns["theta_norm"] = np.sqrt((self._plays.thetas[:, reported] ** 2).sum(-1))
        return columns

    def _bound(
        self, notes: dict[str, np.ndarray], xi: np.ndarray | None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The column `bound`, if asked for, and the report on its constants, if a theorem applies."""
        if not self._choice.bound:
            return {}, {}
        if not has_bound(self._algorithm):
            return {"bound": np.full((len(self._seeds), len(self._evaluated)), np.nan)}, {}
        constants = measured_constants(self._algorithm.problem, self._played, int(self._times[-1]))
        column = bound(self._algorithm, constants, self._evaluated, notes, xi)
        return {"bound": column}, bound_report(self._seeds, constants, xi)

    def _reported(self, measured: list[tuple[Expected | None, Hindsight]]) -> dict[str, Any]:
        """The errors of the expected costs and of the comparators, by seed."""
        T = int(self._times[-1])
        hindsight = {
            "kind": "best fixed parameter found on the realised rounds: static regret is at least this",
            "value": self._by_seed(h.best_fixed[-1] / T for _, h in measured),
            "uncertainty": self._by_seed(h.uncertainty for _, h in measured),
        }
        expected = [seed for seed, _ in measured if seed]
        if not expected:
            pieces = self._by_seed(h.best_pieces[-1] / T for _, h in measured)
            kind = "realised: best parameter in hindsight between evaluation rounds"
            return {"comparator": {"kind": kind, "value": pieces}, "hindsight": hindsight}
        return {
            "comparator": {
                "kind": "law: infimum of the expected cost",
                "value": self._by_seed(seed.best[-1] for seed in expected),
                "uncertainty": self._by_seed(seed.uncertainty.max() for seed in expected),
            },
            "hindsight": hindsight,
            "expected_cost_error": self._by_seed(seed.error for seed in expected),
        }

    def _by_seed(self, values: Iterable[float]) -> dict[str, float]:
        return by_seed(self._seeds, values)
