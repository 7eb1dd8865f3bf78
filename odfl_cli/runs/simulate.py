"""Plays a job: the loop over blocks of rounds."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import Any, NamedTuple, cast

import numpy as np

from odfl_cli.algorithms.base import Algorithm, for_seeds
from odfl_cli.core.cores import at_most
from odfl_cli.core.errors import RoundError, RowError, UserError, message
from odfl_cli.core.streams import draw_all
from odfl_cli.engine.base import MEANS, SOLVER_LIMITS, Engine, Trace
from odfl_cli.environments.base import Environment, Rounds, mean_costs, shape_of
from odfl_cli.metrics.base import Basic, Metrics, PlayedBlock, Recorder, RoundStart, Run, places_of
from odfl_cli.problem.problem import Horizon
from odfl_cli.runs.closed_loop import LoopEngine

BLOCK_BYTES = 32 * 2**20  # of a block's data
MOST_ROUNDS = 2048  # of a block
PHASES = ("start", "data", "learn", "metrics")


@dataclass(frozen=True)
class Simulation:
    """The results of a job: the table of logged rounds, the last state, seconds by phase."""

    table: dict[str, np.ndarray]  # column → [S, rows]
    state: Any
    seconds: dict[str, float]
    report: dict[str, Any]  # entries of summary.json by the metrics
    idle: bool = False  # every decision was zero although there were costs
    trace: Trace | None = None  # of all rounds, if it is kept


class Past(NamedTuple):
    """The first rounds of a run, played earlier, and the state after them."""

    rounds: int
    state: Any
    trace: Trace  # [S, rounds]


@dataclass(frozen=True)
class Job:
    """One algorithm in one environment over a horizon, for some seeds."""

    environment: Environment
    algorithm: Algorithm
    engine: Engine
    horizon: Horizon
    seeds: tuple[int, ...]
    metrics: Metrics = field(default_factory=Basic)
    config: dict[str, Any] = field(default_factory=dict)  # resolved, without bookkeeping
    choices: dict[str, str] = field(default_factory=dict)  # group → choice

    def count_numbers(self) -> int:
        """The number of features and costs of all rounds and seeds."""
        per_round = self.environment.items * (self.environment.features + 1)
        return len(self.seeds) * self.horizon.rounds * per_round

    def choose_block_rounds(self) -> int:
        """The number of rounds processed at once: a power of two within the memory budget."""
        numbers = math.prod(shape_of(self.environment)) + 4 * self.environment.items
        per_round = 8 * len(self.seeds) * numbers
        return min(MOST_ROUNDS, max(16, 1 << max(1, BLOCK_BYTES // per_round).bit_length() - 1))

    def draw_block(self, start: int, stop: int) -> tuple[Rounds, dict[str, np.ndarray]]:
        """The rounds start ≤ t < stop, and the algorithm's draws in them by name."""
        draw_rounds = getattr(self.environment, "blank", self.environment.rounds)
        with np.errstate(all="ignore"):  # numbers that are not finite are found in the trace
            data = _check_rounds(self, draw_rounds(self.seeds, start, stop), stop - start)
        drawn = draw_all(self.seeds, self.algorithm.draws(), start, stop)
        if self.algorithm.problem.kappa_rule == "worst":
            known: Any = self.environment
            drawn[MEANS] = known.expected_costs(self.seeds, start, data.X)
        return data, drawn


def simulate(
    job: Job,
    block: int | None = None,
    progress: Callable[[int], None] = lambda rounds: None,
    past: Past | None = None,
    keep: bool = False,
) -> Simulation:
    """Plays T rounds and calls `progress` with the number played; results do not depend on `block`.

    The rounds of `past` are not played again. With `keep`, the result has the trace of all rounds.
    """
    with at_most(getattr(job.engine, "threads", None)):
        return _simulate(job, block or job.choose_block_rounds(), progress, past, keep)


def _simulate(
    job: Job, block: int, progress: Callable[[int], None], past: Past | None, keep: bool
) -> Simulation:
    clock, traces = Clock(), []
    job = replace(job, algorithm=for_seeds(job.algorithm, job.seeds))
    algorithm, seeds, rounds = job.algorithm, job.seeds, job.horizon.rounds
    if start_loop := getattr(job.environment, "start", None):
        job = replace(job, engine=LoopEngine(job.engine, start_loop(seeds)))
    with clock("start"):
        recorder = job.metrics.recorder(Run(job.environment, algorithm, job.horizon, seeds))
        job.engine.start(algorithm)
    costs, paid = False, False
    state = past.state if past else algorithm.init(len(seeds), job.environment.theta_star(seeds))
    begun = past.rounds if past else 0
    for start, stop in chain(_blocks(0, begun, block), _blocks(begun, rounds, block)):
        with clock("data"):
            data, draws = job.draw_block(start, stop)
        with clock("learn"):
            if past and start < begun:
                trace = past.trace.cut(start, stop)
            else:
                state, trace = _advance(job, recorder, state, start, data, draws)
            traces += [trace] if keep else []
        with clock("metrics"):
            check_finite(algorithm, seeds, start, trace)
            costs, paid = costs or bool(data.costs.any()), paid or bool(trace.cost.any())
            best = _best_costs(job, start, data, trace)
            known = mean_costs(job.environment, seeds, start, data.X, trace.decision)
            recorder.add(PlayedBlock(start, data, trace, best, known))
        progress(stop)
    with clock("metrics"):
        table = recorder.table()
    kept = Trace.join(traces, axis=1) if keep else None
    return Simulation(table, state, clock.seconds, recorder.report(), costs and not paid, kept)


def _advance(
    job: Job, recorder: Recorder, state: Any, start: int, data: Rounds, draws: dict[str, np.ndarray]
) -> tuple[Any, Trace]:
    """Plays a block from round `start` on, in parts if the recorder watches states in it."""
    length = data.costs.shape[1]
    stops = places_of(recorder.watched, start, start + length).tolist()
    traces = []
    for first, last in pairwise(sorted({0, length, *stops})):
        part = Rounds(data.X[:, first:last], data.costs[:, first:last])
        drawn = {name: values[:, first:last] for name, values in draws.items()}
        if first in stops:
            recorder.watch(RoundStart(start + first + 1, state, part, drawn))
        try:
            state, trace = job.engine.advance(job.algorithm, state, part, drawn)
        except RoundError as error:
            raise name_round(error, job.algorithm, job.seeds, start + first) from error
        except np.linalg.LinAlgError as error:
            rounds = f"rounds {start + first + 1} to {start + last}"
            raise UserError(f"{job.algorithm.name}, {rounds}: {message(error)}") from error
        traces.append(trace)
    return state, Trace.join(traces, axis=1)


def _best_costs(job: Job, start: int, data: Rounds, trace: Trace) -> np.ndarray:
    """min_w ⟨c_t, w⟩ of every round, [S, B]; solves stopped by a limit are counted, too."""
    problem, rounds = job.algorithm.problem, data.costs.shape[1]
    try:
        best = problem.polytope.minimise(problem.mark_missing(data.costs, data.X))
    except RowError as error:
        seed, place = divmod(error.row, rounds)
        found = RoundError(place, seed, str(error))
        raise name_round(found, job.algorithm, job.seeds, start) from error
    if SOLVER_LIMITS in trace.notes:
        limits = trace.notes[SOLVER_LIMITS]
        limits += cast(Any, problem.polytope).take_limited(limits.size).reshape(limits.shape)
    return (data.costs * best).sum(-1)


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


def _check_rounds(job: Job, rounds: Rounds, length: int) -> Rounds:
    """An environment's arrays as engines need them; raises a UserError for wrong shapes."""
    lead, shape = (len(job.seeds), length), shape_of(job.environment)
    expected = (*lead, *shape), (*lead, job.environment.items)
    X, costs = (np.require(values, np.float64, ["C", "W"]) for values in rounds)
    if (X.shape, costs.shape) != expected:
        raise UserError(
            f"data: rounds() gave X {X.shape} and costs {costs.shape}; "
            f"{expected[0]} and {expected[1]} are needed (seeds, rounds, items, features)"
        )
    return Rounds(X, costs)


def _blocks(start: int, stop: int, size: int) -> Iterator[tuple[int, int]]:
    for first in range(start, stop, size):
        yield first, min(first + size, stop)


def name_round(
    error: RoundError, algorithm: Algorithm, seeds: tuple[int, ...], start: int
) -> UserError:
    """The error with its seed and round, for a block after `start` rounds."""
    seed, t = seeds[error.seed_index], start + error.round_index + 1
    return UserError(f"{algorithm.name}, seed {seed}, round {t}: {error}")


def check_finite(algorithm: Algorithm, seeds: tuple[int, ...], start: int, trace: Trace) -> None:
    """Raises if numbers of the trace are not finite."""
    broken = ~(np.isfinite(trace.cost) & np.isfinite(trace.mse))
    if broken.any():
        first = int(broken.any(axis=0).argmax())
        seed = seeds[int(broken[:, first].argmax())]
        has_rate = any(hasattr(algorithm, name) for name in ("eta", "c_eta"))
        hint = "; smaller learning rates may help" if has_rate else ""
        raise UserError(
            f"{algorithm.name}: the numbers of seed {seed} stopped being finite "
            f"in round {start + first + 1}{hint}"
        )
