"""The contract of metrics, and the columns that every run has."""

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np

from odfl_cli.algorithms import Algorithm
from odfl_cli.core.settings import settings
from odfl_cli.engine import Trace
from odfl_cli.engine.base import NO_ROUNDS, note_names
from odfl_cli.environments import Environment, Rounds
from odfl_cli.problem.problem import Horizon

COLUMNS = ("t", "cost", "avg_cost", "mse", "avg_mse", "best_cost", "regret")


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

    def select(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Those of the rounds t (from 1) that are in the block, and their positions in it."""
        places = places_of(t, self.start, self.start + self.best_cost.shape[1])
        return places + self.start + 1, places


class Recorder(Protocol):
    """Follows one run and returns the columns of the CSV."""

    watched: np.ndarray = NO_ROUNDS
    """Rounds (from 1, ascending) before which `watch` is called; a block is interrupted there."""
    asked: np.ndarray = NO_ROUNDS
    """Rounds (from 1, ascending) whose traces have θ_t."""

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
    """The settings of a recorder: what a file in conf/metrics names. To add columns, subclass `Metric`."""

    def columns(self, environment: Environment, algorithm: Algorithm) -> tuple[str, ...]:
        """The columns that have values in a run of `algorithm` in `environment`, `t` first."""

    def recorder(self, run: Run) -> Recorder:
        """A recorder for that run."""


def by_seed(seeds: Iterable[int], values: Iterable[float]) -> dict[str, float]:
    """Seed → value, with keys as JSON has them."""
    return {str(seed): float(value) for seed, value in zip(seeds, values, strict=True)}


def with_earlier(report: Any, earlier: Any, computed: Iterable[int], kept: Iterable[int]) -> Any:
    """The report on the computed seeds, merged with the earlier report on the kept seeds.

    Only values by seed can be merged; everything else is taken from the newer report.
    """
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
    """The notes of every run: what the algorithm reports, Newton steps, the gap that κ allows."""
    hidden = set(algorithm.noted) - set(algorithm.reported)
    return tuple(name for name in note_names(algorithm) if name not in hidden)


@settings
class Basic:
    """Cost, squared error and regret against each round's best decision."""

    def columns(self, environment: Environment, algorithm: Algorithm) -> tuple[str, ...]:
        """Those of every run, and the notes of the algorithm and of the problem's parts."""
        return (*COLUMNS, *standard_notes(algorithm))

    def recorder(self, run: Run) -> "BasicRecorder":
        """For the logged rounds."""
        return BasicRecorder(len(run.seeds), run.horizon.logged(), standard_notes(run.algorithm))


class BasicRecorder(Recorder):
    """The columns of every run and `notes`, at the logged rounds.

    Running sums are carried from block to block, so that averages count every round.
    """

    def __init__(self, seeds: int, logged: np.ndarray, notes: tuple[str, ...] = ()) -> None:
        self._logged, self._notes = logged, notes
        self._sums = np.zeros((3, seeds))  # cost, mse, regret
        self._rows: list[np.ndarray] = []  # [columns, S, rows of the block]

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
