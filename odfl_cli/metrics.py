"""From traces to the columns of the CSV."""

import numpy as np

from odfl_cli.engine import Trace

COLUMNS = ("t", "cost", "avg_cost", "mse", "avg_mse", "best_cost", "regret")


class BasicMetrics:
    """Cost, squared error and regret above each round's best decision, at the logged rounds.

    Running sums cross the blocks, so that averages count every round and not only the logged.
    """

    def __init__(self, seeds: int, logged: np.ndarray) -> None:
        self._logged = logged
        self._sums = np.zeros((3, seeds))  # cost, mse, regret
        self._rows: list[np.ndarray] = []  # [columns, S, rows of the block]

    def add(self, start: int, trace: Trace, best_cost: np.ndarray) -> None:
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
