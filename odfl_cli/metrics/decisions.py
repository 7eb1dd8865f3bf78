"""Which items were played in the logged rounds, beside those of the best decision."""

from typing import Any

import numpy as np
from pydantic import SkipValidation

from odfl_cli.algorithms import Algorithm
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import settings
from odfl_cli.environments import Environment
from odfl_cli.metrics.base import Metrics, PlayedBlock, Recorder, RoundStart, Run

DECISIONS = ("decision", "best_decision")
USED = 1e-9  # an item with less weight is not played
MOST_ITEMS = 52  # whose set has a number that a float holds exactly


@settings
class Decisions:
    """The columns of the metrics `of`, then `decision` and `best_decision`."""

    of: SkipValidation[Metrics]

    def __post_init__(self) -> None:
        if not hasattr(self.of, "recorder"):
            key = "metrics.of"
            raise UserError(f"{key}={self.of}: choose a file of its group, as metrics@{key}=NAME")

    def columns(self, environment: Environment, algorithm: Algorithm) -> tuple[str, ...]:
        """Those of the other metrics, and the two."""
        return (*self.of.columns(environment, algorithm), *DECISIONS)

    def recorder(self, run: Run) -> "DecisionMetrics":
        """One that looks at the state before every logged round."""
        return DecisionMetrics(self.of.recorder(run), run)


class DecisionMetrics:
    """Follows a run for another recorder, and decides every logged round once more."""

    def __init__(self, other: Recorder, run: Run) -> None:
        self.watched, self.asked = np.union1d(other.watched, run.horizon.logged()), other.asked
        self._other, self._others = other, set(other.watched.tolist())
        self._logged = set(run.horizon.logged().tolist())
        self._algorithm = run.algorithm
        self._rows: list[np.ndarray] = []  # [2, S] of every logged round

    def watch(self, before: RoundStart) -> None:
        """Notes what is played in round t and what is best."""
        if before.t in self._others:
            self._other.watch(before)
        if before.t in self._logged:
            X, costs = before.rounds.X[:, 0], before.rounds.costs[:, 0]
            _, played = self._algorithm.decide(before.state, X)
            problem = self._algorithm.problem
            best = problem.polytope.minimise(problem.marked(costs, X))
            self._rows.append(np.stack([numbered(np.asarray(played)), numbered(best)]))

    def add(self, block: PlayedBlock) -> None:
        """Passes the block on."""
        self._other.add(block)

    def table(self) -> dict[str, np.ndarray]:
        """The other's columns and the two."""
        table = self._other.table()
        return table | dict(zip(DECISIONS, np.stack(self._rows, axis=-1), strict=True))

    def report(self) -> dict[str, Any]:
        """The other's."""
        return self._other.report()


def numbered(decisions: np.ndarray) -> np.ndarray:
    """A number for the items of each decision [S, d]: [S].

    The item itself if it is one, counted from 0; −1 for none; −1 − Σ 2^i over the items i if there
    are several, NaN where that has more digits than a float.
    """
    used = np.abs(decisions) > USED
    count, first = used.sum(-1), used.argmax(-1).astype(float)
    several = -1 - (used * 2.0 ** np.arange(decisions.shape[-1])).sum(-1)
    if decisions.shape[-1] > MOST_ITEMS:
        several[count > 1] = np.nan
    return np.where(count == 1, first, several)
