"""The columns that every run has."""

from typing import Any, ClassVar

import numpy as np

from odfl_cli.algorithms import Algorithm
from odfl_cli.engine import Trace
from odfl_cli.environments import Environment, Rounds
from odfl_cli.horizon import Horizon
from odfl_cli.settings import settings

COLUMNS = ("t", "cost", "avg_cost", "mse", "avg_mse", "best_cost", "regret")


@settings
class Basic:
    """Cost, squared error and regret above each round's best decision."""

    columns: ClassVar[tuple[str, ...]] = COLUMNS

    def recorder(
        self,
        environment: Environment,
        algorithm: Algorithm,
        horizon: Horizon,
        seeds: tuple[int, ...],
    ) -> "BasicMetrics":
        """Needs to know the logged rounds alone."""
        return BasicMetrics(len(seeds), horizon.logged())


class BasicMetrics:
    """Cost, squared error and regret above each round's best decision, at the logged rounds.

    Running sums cross the blocks, so that averages count every round and not only the logged.
    """

    def __init__(self, seeds: int, logged: np.ndarray) -> None:
        self.watched = np.empty(0, dtype=np.int64)
        self._logged = logged
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
        )
        self._rows.append(np.stack(columns))

    def table(self) -> dict[str, np.ndarray]:
        """Column name to values, [S, rows]."""
        values = np.concatenate(self._rows, axis=-1)
        return dict(zip(COLUMNS, values, strict=True))

    def report(self) -> dict[str, Any]:
        """Nothing besides the columns."""
        return {}
