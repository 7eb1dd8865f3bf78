"""The only loop over blocks of rounds."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from odfl_cli.algorithms.base import Algorithm, for_seeds
from odfl_cli.core.cores import ahead, allotted_threads, at_most
from odfl_cli.core.errors import RoundError, UserError
from odfl_cli.core.streams import draw_all
from odfl_cli.engine import Engine, Trace
from odfl_cli.engine.base import NO_ROUNDS
from odfl_cli.environments.base import Environment, Rounds, shape_of
from odfl_cli.metrics.base import (
    Basic,
    Metrics,
    PlayedBlock,
    Recorder,
    RoundStart,
    Run,
    places_of,
)
from odfl_cli.problem.problem import Horizon

BLOCK_BYTES = 32 * 2**20  # two blocks are held: one is drawn while the other is played
MOST_ROUNDS = 2048  # of a block: fewer blocks have less overhead, more of them overlap better
T = TypeVar("T")
PHASES = ("start", "data", "learn", "metrics")


class NotFiniteError(UserError):
    """The numbers of a run are not finite."""


@dataclass(frozen=True)
class Simulation:
    """The results of a job: the table of logged rounds, the last state, seconds by phase."""

    table: dict[str, np.ndarray]  # column → [S, rows]
    state: Any
    seconds: dict[str, float]
    report: dict[str, Any]  # what the metrics add to summary.json
    idle: bool = False  # every decision was zero, though there were costs


@dataclass(frozen=True)
class Job:
    """One algorithm in one environment over a horizon, for some seeds."""

    environment: Environment
    algorithm: Algorithm
    engine: Engine
    horizon: Horizon
    seeds: tuple[int, ...]
    metrics: Metrics = field(default_factory=Basic)

    def count_numbers(self) -> int:
        """The count of numbers in its data: features and costs of all rounds and seeds."""
        per_round = self.environment.items * (self.environment.features + 1)
        return len(self.seeds) * self.horizon.rounds * per_round

    def choose_block_rounds(self) -> int:
        """Rounds processed at once: as many as the memory budget holds, a power of two."""
        numbers = math.prod(shape_of(self.environment)) + 4 * self.environment.items
        per_round = 8 * len(self.seeds) * numbers
        return min(MOST_ROUNDS, max(16, 1 << max(1, BLOCK_BYTES // per_round).bit_length() - 1))

    def draw_blocks(self, blocks: Iterator[tuple[int, int]]) -> Iterator["DrawnBlock"]:
        """Draws the blocks start ≤ t < stop, each while the one before is played if that is safe."""
        safe = getattr(self.environment, "thread_safe", False) and allotted_threads() > 1
        return ahead(self._draw, blocks) if safe else map(self._draw, blocks)

    def _draw(self, block: tuple[int, int]) -> "DrawnBlock":
        start, stop = block
        with np.errstate(all="ignore"):  # what is not finite is found in the trace
            data = _check_rounds(
                self, self.environment.rounds(self.seeds, start, stop), stop - start
            )
        return DrawnBlock(start, data, draw_all(self.seeds, self.algorithm.draws(), start, stop))


class DrawnBlock(NamedTuple):
    """A block of rounds from round `start` on, with the algorithm's draws by name."""

    start: int
    data: Rounds
    draws: dict[str, np.ndarray]


def simulate(
    job: Job, block: int | None = None, progress: Callable[[int], None] = lambda rounds: None
) -> Simulation:
    """Plays T rounds and calls `progress` with the number played; results do not depend on `block`."""
    with at_most(getattr(job.engine, "threads", None)):
        return _simulate(job, block or job.choose_block_rounds(), progress)


def _simulate(job: Job, block: int, progress: Callable[[int], None]) -> Simulation:
    clock = Clock()
    job = replace(job, algorithm=for_seeds(job.algorithm, job.seeds))
    algorithm, seeds, rounds = job.algorithm, job.seeds, job.horizon.rounds
    with clock("start"):
        recorder = job.metrics.recorder(Run(job.environment, algorithm, job.horizon, seeds))
        job.engine.start(algorithm)
    costs, paid = False, False
    state = algorithm.init(len(seeds), job.environment.theta_star(seeds))
    blocks = job.draw_blocks(_blocks(rounds, block))
    for start, data, draws in clock.time_each("data", blocks):
        with clock("learn"):
            state, trace = _advance(job, recorder, state, start, data, draws)
        with clock("metrics"):
            _check_finite(job, start, trace)
            costs, paid = costs or bool(data.costs.any()), paid or bool(trace.cost.any())
            problem = algorithm.problem
            best = problem.polytope.minimise(problem.marked(data.costs, data.X))
            recorder.add(PlayedBlock(start, data, trace, (data.costs * best).sum(-1)))
        progress(start + data.costs.shape[1])
    with clock("metrics"):
        table = recorder.table()
    return Simulation(table, state, clock.seconds, recorder.report(), costs and not paid)


def _advance(
    job: Job,
    recorder: Recorder,
    state: Any,
    start: int,
    data: Rounds,
    draws: dict[str, np.ndarray],
) -> tuple[Any, Trace]:
    """Plays a block from round `start` on; stops where the recorder asks for the state."""
    length = data.costs.shape[1]
    stops = places_of(recorder.watched, start, start + length).tolist()
    traces = []
    for first, last in pairwise(sorted({0, length, *stops})):
        part = Rounds(data.X[:, first:last], data.costs[:, first:last])
        drawn = {name: values[:, first:last] for name, values in draws.items()}
        if first in stops:
            recorder.watch(RoundStart(start + first + 1, state, part, drawn))
        asked = places_of(getattr(recorder, "asked", NO_ROUNDS), start + first, start + last)
        more = (asked,) if len(asked) else ()
        with _name_round(job, start + first):
            state, trace = job.engine.advance(job.algorithm, state, part, drawn, *more)
        traces.append(trace)
    return state, Trace.joined(traces)


class Clock:
    """Seconds spent under each name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = dict.fromkeys(PHASES, 0.0)

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Times the block under `name`."""
        begun = time.perf_counter()
        yield
        self.seconds[name] += time.perf_counter() - begun

    def time_each(self, name: str, values: Iterator[T]) -> Iterator[T]:
        """Yields the values; the time until each is there counts under `name`."""
        while True:
            with self(name):
                value = next(values, None)
            if value is None:
                return
            yield value


def _check_rounds(job: Job, rounds: Rounds, length: int) -> Rounds:
    """An environment's arrays as engines need them; a UserError where the shapes are wrong."""
    lead, shape = (len(job.seeds), length), shape_of(job.environment)
    expected = (*lead, *shape), (*lead, job.environment.items)
    X, costs = (np.require(values, np.float64, ["C", "W"]) for values in rounds)
    if (X.shape, costs.shape) != expected:
        raise UserError(
            f"data: rounds() gave X {X.shape} and costs {costs.shape}; "
            f"{expected[0]} and {expected[1]} are needed (seeds, rounds, items, features)"
        )
    return Rounds(X, costs)


def _blocks(rounds: int, size: int) -> Iterator[tuple[int, int]]:
    for start in range(0, rounds, size):
        yield start, min(start + size, rounds)


@contextmanager
def _name_round(job: Job, start: int) -> Iterator[None]:
    try:
        yield
    except RoundError as error:
        seed, t = job.seeds[error.seed_index], start + error.round_index + 1
        raise UserError(f"{job.algorithm.name}, seed {seed}, round {t}: {error}") from error


def _check_finite(job: Job, start: int, trace: Trace) -> None:
    broken = ~(np.isfinite(trace.cost) & np.isfinite(trace.mse))
    if broken.any():
        first = int(broken.any(axis=0).argmax())
        seed = job.seeds[int(broken[:, first].argmax())]
        has_rate = any(hasattr(job.algorithm, name) for name in ("eta", "c_eta"))
        hint = "; smaller learning rates may help" if has_rate else ""
        raise NotFiniteError(
            f"{job.algorithm.name}: the numbers of seed {seed} stopped being finite "
            f"in round {start + first + 1}{hint}"
        )
