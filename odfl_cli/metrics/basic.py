"""The columns that every run has."""

from typing import Any

import numpy as np

from odfl_cli.algorithms import Algorithm
from odfl_cli.core.settings import settings
from odfl_cli.engine import Trace
from odfl_cli.engine.notes import noted
from odfl_cli.environments import Environment, Rounds
from odfl_cli.problem.horizon import Horizon

COLUMNS = ("t", "cost", "avg_cost", "mse", "avg_mse", "best_cost", "regret")


def noted_of_the_parts(algorithm: Algorithm) -> tuple[str, ...]:
    """What is noted besides the algorithm's own schedule: Newton steps, the gap that κ allows."""
    return tuple(name for name in noted(algorithm) if name not in algorithm.noted)


@settings
class Basic:
    """Cost, squared error and regret above each round's best decision."""

    def columns(self, environment: Environment, algorithm: Algorithm) -> tuple[str, ...]:
        """Those of every run, and what is noted of the problem's parts."""
        return (*COLUMNS, *noted_of_the_parts(algorithm))

    def recorder(
        self,
        environment: Environment,
        algorithm: Algorithm,
        horizon: Horizon,
        seeds: tuple[int, ...],
    ) -> "BasicMetrics":
        """Needs to know the logged rounds and what is noted in them."""
        return BasicMetrics(len(seeds), horizon.logged(), noted_of_the_parts(algorithm))


class BasicMetrics:
    """Cost, squared error, regret above each round's best decision and `notes`, at the logged rounds.

    Running sums cross the blocks, so that averages count every round and not only the logged.
    """

    def __init__(self, seeds: int, logged: np.ndarray, notes: tuple[str, ...] = ()) -> None:
        self.watched = np.empty(0, dtype=np.int64)
        self._logged, self._notes = logged, notes
        self._sums = np.zeros((3, seeds))  # cost, mse, regret
        self._rows: list[np.ndarray] = []  # [columns, S, rows of the block]

    def watch(self, t: int, state: Any, rounds: Rounds, draws: dict[str, np.ndarray]) -> None:
        """Nothing is asked of the state."""

    def add(self, start: int, rounds: Rounds, trace: Trace, best_cost: np.ndarray) -> None:
        """Takes the block that starts at round `start` (from 0); arrays are [S, B]."""
        per_round = np.stack([trace.cost, trace.mse, trace.cost - best_cost])
        per_round[:, :, 0] += self._sums
        cumulative = np.cumsum(per_round, axis=-1)
        self._sums = cumulative[:, :, -1]
        stop = start + trace.cost.shape[1]
        t = self._logged[(self._logged > start) & (self._logged <= stop)]
        rows = t - start - 1
        average = cumulative[:2, :, rows] / t
        columns = (
            np.broadcast_to(t, average.shape[1:]),
            trace.cost[:, rows],
            average[0],
            trace.mse[:, rows],
            average[1],
            best_cost[:, rows],
            cumulative[2][:, rows],
            *(trace.notes[name][:, rows] for name in self._notes),
        )
        self._rows.append(np.stack(columns))

    def table(self) -> dict[str, np.ndarray]:
        """Column name to values, [S, rows]."""
        values = np.concatenate(self._rows, axis=-1)
        return dict(zip((*COLUMNS, *self._notes), values, strict=True))

    def report(self) -> dict[str, Any]:
        """Nothing besides the columns."""
        return {}
