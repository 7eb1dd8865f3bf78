"""The columns that every run has."""

from typing import Any

import numpy as np

from odfl_cli.algorithms import Algorithm
from odfl_cli.core.settings import settings
from odfl_cli.engine.base import noted
from odfl_cli.environments import Environment
from odfl_cli.metrics.base import PlayedBlock, RoundStart, Run

COLUMNS = ("t", "cost", "avg_cost", "mse", "avg_mse", "best_cost", "regret")


def standard_notes(algorithm: Algorithm) -> tuple[str, ...]:
    """The notes of every run: what the algorithm reports, Newton steps, the gap that κ allows."""
    hidden = set(algorithm.noted) - set(algorithm.reported)
    return tuple(name for name in noted(algorithm) if name not in hidden)


@settings
class Basic:
    """Cost, squared error and regret against each round's best decision."""

    def columns(self, environment: Environment, algorithm: Algorithm) -> tuple[str, ...]:
        """Those of every run, and the notes of the algorithm and of the problem's parts."""
        return (*COLUMNS, *standard_notes(algorithm))

    def recorder(self, run: Run) -> "BasicMetrics":
        """For the logged rounds."""
        return BasicMetrics(len(run.seeds), run.horizon.logged(), standard_notes(run.algorithm))


class BasicMetrics:
    """Cost, squared error, regret against each round's best decision and `notes`, at the logged rounds.

    Running sums are carried from block to block, so that averages count every round.
    """

    def __init__(self, seeds: int, logged: np.ndarray, notes: tuple[str, ...] = ()) -> None:
        self.watched = np.empty(0, dtype=np.int64)
        self._logged, self._notes = logged, notes
        self._sums = np.zeros((3, seeds))  # cost, mse, regret
        self._rows: list[np.ndarray] = []  # [columns, S, rows of the block]

    def watch(self, before: RoundStart) -> None:
        """Uses no state."""

    def add(self, block: PlayedBlock) -> None:
        """Takes the logged rounds of the block."""
        trace, best_cost = block.trace, block.best_cost
        per_round = np.stack([trace.cost, trace.mse, trace.cost - best_cost])
        per_round[:, :, 0] += self._sums
        cumulative = np.cumsum(per_round, axis=-1)
        self._sums = cumulative[:, :, -1]
        t, rows = block.select(self._logged)
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
