"""The contract of metrics, and the columns that every run has."""

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.core.settings import settings
from odfl_cli.engine.base import NO_ROUNDS, Trace, note_names
from odfl_cli.environments.base import Environment, Rounds, knows_means
from odfl_cli.problem.problem import Horizon

COLUMNS = ("t", "cost", "avg_cost", "mse", "avg_mse", "best_cost", "regret")
MEAN_COLUMNS = ("mean_cost", "avg_mean_cost")
"""Further columns if the environment knows E[c_t | X_t]."""


class Run(NamedTuple):
    """A run before it starts."""

    environment: Environment
    algorithm: Algorithm
    horizon: Horizon
    seeds: tuple[int, ...]


class RoundStart(NamedTuple):
    """A run just before round t."""

    t: int  # from 1
    state: Any  # the state that decides round t
    rounds: Rounds  # the first of these is round t
    draws: dict[str, np.ndarray]  # of the same rounds


def places_of(t: np.ndarray, start: int, stop: int) -> np.ndarray:
    """The positions, from 0, of the rounds t (from 1) in a block of the rounds start < t ≤ stop."""
    return t[(t > start) & (t <= stop)] - start - 1


class PlayedBlock(NamedTuple):
    """Consecutive rounds after they were played."""

    start: int  # the number of rounds before them
    rounds: Rounds
    trace: Trace
    best_cost: np.ndarray  # min_w ⟨c_t, w⟩, [S, B]
    mean_cost: np.ndarray | None = None  # ⟨E[c_t | X_t], w_t⟩ where it is known, [S, B]

    def select(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rounds among t (from 1) that are in the block, and their positions in it."""
        places = places_of(t, self.start, self.start + self.best_cost.shape[1])
        return places + self.start + 1, places


class Recorder(Protocol):
    """Follows one run and returns the columns of the CSV."""

    watched: np.ndarray = NO_ROUNDS
    """Rounds (from 1, ascending) before which `watch` is called; blocks are split there."""

    def watch(self, before: RoundStart) -> None:
        """Called before each of the watched rounds."""
        return

    def add(self, block: PlayedBlock) -> None:
        """Called with all rounds in their order, block by block."""

    def table(self) -> dict[str, np.ndarray]:
        """Column name to values, [S, rows]; NaN where a column has no value."""
        raise NotImplementedError

    def report(self) -> dict[str, Any]:
        """Further entries of summary.json; complete once `table` was called."""
        return {}


class Metrics(Protocol):
    """The settings of a recorder, named by a file in conf/metrics. To add columns, subclass `Metric`."""

    def columns(self, environment: Environment, algorithm: Algorithm) -> tuple[str, ...]:
        """The columns that have values in a run of `algorithm` in `environment`, `t` first."""

    def recorder(self, run: Run) -> Recorder:
        """A recorder for that run."""


def by_seed(seeds: Iterable[int], values: Iterable[float]) -> dict[str, float]:
    """Seed → value, with keys as JSON has them."""
    return {str(seed): float(value) for seed, value in zip(seeds, values, strict=True)}


def with_earlier(report: Any, earlier: Any, computed: Iterable[int], kept: Iterable[int]) -> Any:
    """The report on the computed seeds, with the earlier values by seed of the kept ones."""
    if not isinstance(report, dict):
        return report
    earlier = earlier if isinstance(earlier, dict) else {}
    computed, kept = list(computed), list(kept)
    if set(report) == {str(seed) for seed in computed}:
        joined = {str(seed): earlier[str(seed)] for seed in kept if str(seed) in earlier} | report
        return {seed: joined[seed] for seed in sorted(joined, key=int)}
    return {
        key: with_earlier(value, earlier.get(key), computed, kept) for key, value in report.items()
    }


def standard_notes(algorithm: Algorithm) -> tuple[str, ...]:
    """The notes of every run: those that the algorithm reports, and those of the problem's parts."""
    hidden = set(algorithm.noted) - set(algorithm.reported)
    return tuple(name for name in note_names(algorithm) if name not in hidden)


def standard_columns(environment: Environment, algorithm: Algorithm) -> tuple[str, ...]:
    """The columns of every run, and its standard notes."""
    means = MEAN_COLUMNS if knows_means(environment) else ()
    return (*COLUMNS, *means, *standard_notes(algorithm))


@settings
class Basic:
    """Cost, squared error and regret against each round's best decision."""

    def columns(self, environment: Environment, algorithm: Algorithm) -> tuple[str, ...]:
        return standard_columns(environment, algorithm)

    def recorder(self, run: Run) -> "BasicRecorder":
        return BasicRecorder(run.horizon.logged(), standard_notes(run.algorithm))


class BasicRecorder(Recorder):
    """The columns of every run and `notes` at the logged rounds; averages count every round."""

    def __init__(self, logged: np.ndarray, notes: tuple[str, ...] = ()) -> None:
        self._logged, self._notes = logged, notes
        self._sums: dict[str, Any] = {}  # of cost, mse, regret and mean cost so far, [S]
        self._rows: list[dict[str, np.ndarray]] = []  # column → [S, rows of the block]

    def add(self, block: PlayedBlock) -> None:
        trace, best_cost = block.trace, block.best_cost
        t, rows = block.select(self._logged)
        columns = {
            "t": np.broadcast_to(t, (len(best_cost), len(t))),
            "cost": trace.cost[:, rows],
            "avg_cost": self._add_up("cost", trace.cost)[:, rows] / t,
            "mse": trace.mse[:, rows],
            "avg_mse": self._add_up("mse", trace.mse)[:, rows] / t,
            "best_cost": best_cost[:, rows],
            "regret": self._add_up("regret", trace.cost - best_cost)[:, rows],
        }
        if (means := block.mean_cost) is not None:
            columns["mean_cost"] = means[:, rows]
            columns["avg_mean_cost"] = self._add_up("mean_cost", means)[:, rows] / t
        notes = {name: trace.notes[name][:, rows] for name in self._notes}
        self._rows.append(columns | notes)

    def _add_up(self, name: str, values: np.ndarray) -> np.ndarray:
        """The sums of all rounds up to each one of the block, whose values are [S, B]."""
        values = values.copy()
        values[:, 0] += self._sums.get(name, 0.0)
        sums = np.cumsum(values, axis=-1, out=values)
        self._sums[name] = sums[:, -1]
        return sums

    def table(self) -> dict[str, np.ndarray]:
        parts = self._rows
        return {name: np.concatenate([part[name] for part in parts], axis=1) for name in parts[0]}
