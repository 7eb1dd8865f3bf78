"""The contract of metrics: what is chosen, and what records a run."""

from typing import Any, Protocol

import numpy as np

from odfl_cli.algorithms import Algorithm
from odfl_cli.engine import Trace
from odfl_cli.environments import Environment, Rounds
from odfl_cli.problem.horizon import Horizon


class Recorder(Protocol):
    """Follows one run and turns it into the columns of the CSV."""

    @property
    def watched(self) -> np.ndarray:
        """Rounds (from 1, ascending) before which it wants to see the state."""

    def watch(self, t: int, state: Any, rounds: Rounds, draws: dict[str, np.ndarray]) -> None:
        """The state that decides round t, the first of `rounds`, and what is drawn in these."""

    def add(self, start: int, rounds: Rounds, trace: Trace, best_cost: np.ndarray) -> None:
        """Takes the block that starts at round `start` (from 0); trace and best cost are [S, B]."""

    def table(self) -> dict[str, np.ndarray]:
        """Column name to values, [S, rows]; NaN where a column has no value."""

    def report(self) -> dict[str, Any]:
        """What summary.json tells besides."""


class Metrics(Protocol):
    """What the configuration names."""

    def columns(self, environment: Environment, algorithm: Algorithm) -> tuple[str, ...]:
        """The columns that have values in a run of `algorithm` in `environment`, `t` first."""

    def recorder(
        self,
        environment: Environment,
        algorithm: Algorithm,
        horizon: Horizon,
        seeds: tuple[int, ...],
    ) -> Recorder:
        """Someone to follow the run of `algorithm` in `environment`."""
