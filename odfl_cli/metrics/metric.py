"""The base class of metrics that add columns to other metrics."""

from typing import Any, ClassVar

import numpy as np
from pydantic import Field, SkipValidation

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import settings
from odfl_cli.engine.base import NO_ROUNDS
from odfl_cli.environments.base import Environment
from odfl_cli.metrics.base import Basic, Metrics, PlayedBlock, Recorder, RoundStart, Run


@settings
class Metric:
    """Adds the columns `adds` to those of the metrics `of`.

    A subclass overrides `measure`, for values that follow from the rounds played, or `examine`, for
    values that need the state of the algorithm. If `adds` has avg_NAME, it is the mean of the measured
    NAME over all rounds so far.
    """

    of: SkipValidation[Metrics] = Field(default_factory=Basic)
    adds: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if not hasattr(self.of, "recorder"):
            key = "metrics.of"
            raise UserError(f"{key}={self.of}: choose a file of its group, as metrics@{key}=NAME")

    def measure(self, block: PlayedBlock) -> dict[str, np.ndarray]:
        """Column → its values in every round of the block, [S, B]."""
        return {}

    def examine(self, algorithm: Algorithm, before: RoundStart) -> dict[str, np.ndarray]:
        """Column → its values [S] in the logged round t that is about to be played."""
        return {}

    def columns(self, environment: Environment, algorithm: Algorithm) -> tuple[str, ...]:
        return (*self.of.columns(environment, algorithm), *self.adds)

    def recorder(self, run: Run) -> "MetricRecorder":
        return MetricRecorder(self, run)


class MetricRecorder(Recorder):
    """Follows a run for a metric and for the recorder of the metrics it is added to."""

    def __init__(self, metric: Metric, run: Run) -> None:
        self._metric, self._algorithm = metric, run.algorithm
        self._inner, self._logged = metric.of.recorder(run), run.horizon.logged()
        examines = type(metric).examine is not Metric.examine
        self._examined = self._logged if examines else NO_ROUNDS
        self.watched = np.union1d(self._inner.watched, self._examined)
        self._sums: dict[str, Any] = {}  # of the measured columns, [S]
        self._rows: dict[str, list[np.ndarray]] = {}  # column → [S, rows of the block]

    def watch(self, before: RoundStart) -> None:
        if before.t in self._inner.watched:
            self._inner.watch(before)
        if before.t in self._examined:
            for name, values in self._metric.examine(self._algorithm, before).items():
                self._rows.setdefault(name, []).append(values[:, None])

    def add(self, block: PlayedBlock) -> None:
        self._inner.add(block)
        t, rows = block.select(self._logged)
        for name, values in self._metric.measure(block).items():
            totals = np.array(values, dtype=float)
            self._rows.setdefault(name, []).append(totals[:, rows])
            if (average := f"avg_{name}") in self._metric.adds:
                totals[:, 0] += self._sums.get(name, 0.0)
                np.cumsum(totals, axis=1, out=totals)
                self._sums[name] = totals[:, -1]
                self._rows.setdefault(average, []).append(totals[:, rows] / t)

    def table(self) -> dict[str, np.ndarray]:
        adds = self._metric.adds
        if set(self._rows) != set(adds):
            name, found = type(self._metric).__name__, ", ".join(self._rows) or "none"
            raise UserError(
                f"{name}: adds is {', '.join(adds)}, and the columns measured are {found}"
            )
        return self._inner.table() | {
            name: np.concatenate(self._rows[name], axis=1) for name in adds
        }

    def report(self) -> dict[str, Any]:
        return self._inner.report()
