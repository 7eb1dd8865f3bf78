"""Regret as the paper defines it: expected costs, static and dynamic comparators."""

import logging
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from odfl_cli.algorithms import Algorithm
from odfl_cli.core.cores import allotted_threads
from odfl_cli.core.settings import Integer, PositiveInt, settings
from odfl_cli.environments import Environment, known_law
from odfl_cli.metrics.base import PlayedBlock, RoundStart, Run, by_seed
from odfl_cli.metrics.basic import COLUMNS, BasicMetrics, standard_notes
from odfl_cli.metrics.comparators import always_scored, scatter, spread_out
from odfl_cli.metrics.expected import Expected, ExpectedCosts, sum_up_to
from odfl_cli.metrics.hindsight import Hindsight, PlayedRounds, in_hindsight
from odfl_cli.metrics.losses import Plays, losses_for
from odfl_cli.metrics.regret_bound import bound, has_bound
from odfl_cli.metrics.theory.margin import margin_report
from odfl_cli.metrics.theory.oracle_report import VALUES, OracleNotes, calls_an_oracle
from odfl_cli.metrics.theory.theorems import broken_assumptions
from odfl_cli.problem.horizon import Horizon

NO_LAW = (
    "the law of the data is not known: "
    "dynamic regret is against the best θ in hindsight between two evaluation rounds"
)

REGRETS = ("expected_cost", "static_regret", "expected_static_regret", "dynamic_regret")
OF_THE_LAW = ("expected_cost", "expected_static_regret")

SCORED = 4
"""So many of the parameters that were played are comparators in hindsight themselves."""

log = logging.getLogger("odfl")


@settings
class Regret:
    """The basic columns, and regret at `evaluations` rounds; `notes` are columns of the algorithm."""

    sample: Annotated[Integer, Field(ge=2)] = 2000
    evaluations: Annotated[Integer, Field(ge=2)] = 32
    starts: Annotated[Integer, Field(ge=3)] = 8
    steps: PositiveInt = 16
    notes: tuple[str, ...] = ("alpha", "eta", "path_length")
    theta_norm: bool = False
    bound: bool = True
    oracle: Annotated[Integer, Field(ge=0)] = 0
    margin: bool = False

    def columns(self, environment: Environment, algorithm: Algorithm) -> tuple[str, ...]:
        """Those of every run, those of regret, and what was asked for besides."""
        law = known_law(environment) is not None
        regrets = [name for name in REGRETS if law or name not in OF_THE_LAW]
        optional = {"theta_norm": self.theta_norm, "bound": self.bound and has_bound(algorithm)}
        asked = [name for name, wanted in optional.items() if wanted]
        examined = VALUES if self.oracle and calls_an_oracle(algorithm) else ()
        standard = standard_notes(algorithm)
        notes = [n for n in self.notes if n in algorithm.noted and n not in standard]
        return (*COLUMNS, *standard, *regrets, *asked, *examined, *notes)

    def recorder(self, run: Run) -> "RegretMetrics":
        """Measures by the environment's law where it is known."""
        return RegretMetrics(self, run)


def evaluation_rounds(horizon: Horizon, count: int) -> np.ndarray:
    """About `count` of the logged rounds, half evenly and half log-spaced, first and last included."""
    logged = horizon.logged()
    wanted = Horizon(rounds=horizon.rounds, rows=count).logged()
    return np.unique(logged[np.searchsorted(logged, wanted)])


class RegretMetrics:
    """Records a run, and measures its regret once it is over, seed by seed."""

    def __init__(self, choice: Regret, run: Run) -> None:
        seeds, environment, algorithm = run.seeds, run.environment, run.algorithm
        self.watched = evaluation_rounds(run.horizon, choice.evaluations)
        self._choice, self._seeds = choice, seeds
        self._logged = run.horizon.logged()
        self._basic = BasicMetrics(len(seeds), self._logged, standard_notes(algorithm))
        self._notes: list[dict[str, np.ndarray]] = []
        self._plays = Plays(algorithm)
        self._oracle = OracleNotes(algorithm, self.watched, len(seeds), choice.oracle)
        self._environment, self._algorithm = environment, algorithm
        self._played = PlayedRounds(environment, seeds, run.horizon.rounds)
        self._losses = losses_for(algorithm.problem)
        law = known_law(environment)
        self._expected = law and ExpectedCosts(
            law, self._losses, self.watched, choice.sample, choice.steps
        )
        self._report: dict[str, Any] = {}

    def watch(self, before: RoundStart) -> None:
        """Keeps what is played in round t, and may examine the oracle."""
        self._plays.add(before.state)
        self._oracle.watch(before)

    def add(self, block: PlayedBlock) -> None:
        """Keeps the block's rounds, and its notes at the logged ones."""
        self._basic.add(block)
        self._played.add(block.start, block.rounds)
        _, rows = block.select(self._logged)
        self._notes.append({name: values[:, rows] for name, values in block.trace.notes.items()})

    def table(self) -> dict[str, np.ndarray]:
        """All columns; those of regret hold NaN except at the evaluation rounds."""
        table = self._basic.table()
        rows = np.searchsorted(self._logged, self.watched)
        paid = (table["avg_cost"] * table["t"])[:, rows]
        with ThreadPoolExecutor(allotted_threads()) as pool:
            measured = list(pool.map(self._measure, range(len(self._seeds))))
        noted = {
            name: np.concatenate([block[name] for block in self._notes], axis=-1)
            for name in self._notes[0]
        }
        columns = self._columns(paid, measured) | self._oracle.columns()
        if self._choice.bound:
            at_rows = {name: values[:, rows] for name, values in noted.items()}
            xi = columns.get("xi")  # without examined rounds the bound lacks its ξ
            columns["bound"] = bound(self._algorithm, self._played, self.watched, at_rows, xi)
        for name, values in columns.items():
            table[name] = np.full_like(table["cost"], np.nan)
            table[name][:, rows] = values
        for name in self._choice.notes:
            table[name] = noted.get(name, np.full_like(table["cost"], np.nan))
        self._report = (
            self._reported(measured) | self._oracle.report() | self._broken(noted) | self._margins()
        )
        return table

    def report(self) -> dict[str, Any]:
        """The errors of the expected costs and of the comparators; complete after `table`."""
        return self._report

    def _measure(self, row: int) -> tuple[Expected | None, Hindsight]:
        seed, thetas = self._seeds[row], self._plays.thetas()[row]
        near = spread_out(thetas, 1)
        scattered = scatter(self._losses.problem, seed, self._choice.starts)
        expected = None
        if self._expected:
            expected = self._expected.of(self._plays, row, seed, scattered)
            near = np.concatenate([near, spread_out(expected.thetas, 1)])
        hindsight = in_hindsight(
            self._losses,
            self._played,
            row,
            self.watched,
            near,
            scattered,
            always_scored(thetas, SCORED),
            self._choice.steps,
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
            cost = np.stack([seed.cost for seed in expected])
            total = sum_up_to(self.watched, cost)
            expected_fixed = total - np.stack([seed.best_fixed for seed in expected])
            best = np.stack([seed.best for seed in expected])
            dynamic = sum_up_to(self.watched, cost - best)
        else:
            log.warning(NO_LAW)
            cost, expected_fixed = nothing, nothing
            dynamic = paid - np.stack([hindsight.best_pieces for _, hindsight in measured])
        columns = {
            "expected_cost": cost,
            "static_regret": fixed,
            "expected_static_regret": expected_fixed,
            "dynamic_regret": dynamic,
        }
        if self._choice.theta_norm:
            columns["theta_norm"] = np.sqrt((self._plays.thetas() ** 2).sum(-1))
        return columns

    def _broken(self, noted: dict[str, np.ndarray]) -> dict[str, Any]:
        """The theorems' assumptions that the run violates; each is logged."""
        lines = broken_assumptions(noted, self._logged)
        for line in lines:
            log.warning("%s: %s", self._algorithm.name, line)
        return {"broken_assumptions": lines}

    def _margins(self) -> dict[str, Any]:
        if not self._choice.margin:
            return {}
        return margin_report(self._environment, self._algorithm.problem, self._seeds)

    def _reported(self, measured: list[tuple[Expected | None, Hindsight]]) -> dict[str, Any]:
        """The errors of the expected costs and of the comparators, by seed."""
        T = int(self.watched[-1])
        hindsight = {
            "kind": "best fixed parameter on the realised rounds",
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
            "expected_cost_error": self._by_seed(seed.error[-1] for seed in expected),
        }

    def _by_seed(self, values: Iterable[float]) -> dict[str, float]:
        return by_seed(self._seeds, values)
