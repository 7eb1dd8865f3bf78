"""Plays a block of rounds by groups of seeds, one after another or in parallel processes."""

import pickle
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from odfl_cli.algorithms.base import Algorithm, on_problem
from odfl_cli.core.arrays import join_arrays, map_arrays
from odfl_cli.core.cores import allotted_threads, at_most
from odfl_cli.core.errors import RoundError, RowError, UserError, message
from odfl_cli.engine.base import Draws, Trace
from odfl_cli.engine.rounds import play_rounds
from odfl_cli.environments.base import Rounds

SLOW, WORTH = 1e-3, 2.0
"""Seconds of one solver call, and of all calls of a block, from which processes are worthwhile."""
FEW, TRIALS = 100, 3
"""Decisions of a block below which nothing is timed, and the number of timed calls."""
IDLE_SECONDS = 300  # seconds after which an idle process ends


class Group(NamedTuple):
    """The arguments of an engine for some of the seeds."""

    algorithm: Algorithm
    state: Any
    rounds: Rounds
    draws: Draws


def split(whole: Group, size: int) -> Iterator[Group]:
    """Groups of `size` seeds."""
    algorithm, state, rounds, draws = whole
    for first in range(0, len(rounds.costs), size):
        part = slice(first, first + size)
        take = itemgetter(part)
        drawn = {name: take(values) for name, values in draws.items()}
        group = on_problem(algorithm, algorithm.problem.rows(part))
        arrays = map_arrays(state, np.ndarray, take), Rounds(*map(take, rounds))
        yield Group(group, *arrays, drawn)


def join(played: Iterable[tuple[Any, Trace]], size: int) -> tuple[Any, Trace]:
    """The joined states and traces of all groups; a RoundError has the index among all seeds."""
    states, traces = [], []
    try:
        for state, trace in played:
            states.append(state)
            traces.append(trace)
    except RoundError as error:
        seed = len(states) * size + error.seed_index
        raise RoundError(error.round_index, seed, str(error)) from error
    return join_arrays(states), Trace.join(traces, axis=0)


def count_processes(algorithm: Algorithm, rounds: Rounds) -> int:
    """The number of processes: one per core if the solver is slow and picklable, else 1."""
    polytope: Any = algorithm.problem.polytope
    seeds, length, _ = rounds.costs.shape
    decisions = seeds * length
    if seeds == 1 or decisions < FEW or not getattr(polytope, "independent", False):
        return 1
    processes = min(seeds, allotted_threads())
    if processes == 1:
        return 1
    seconds = time_calls(polytope, rounds.costs[0, :TRIALS])
    if seconds < max(SLOW, WORTH / decisions):
        return 1
    try:
        from joblib import wrap_non_picklable_objects

        pickle.dumps(wrap_non_picklable_objects(algorithm))
    except Exception:  # of a user's object, or joblib is missing
        return 1
    return processes


def time_calls(polytope: Any, costs: np.ndarray) -> float:
    """The seconds of the fastest call for rows of costs; 0 if one fails."""
    seconds = []
    with suppress(RowError):
        for row in costs:
            begun = time.perf_counter()
            polytope.minimise(row)
            seconds.append(time.perf_counter() - begun)
        return min(seconds)
    return 0.0


def play_in_processes(groups: Iterable[Group]) -> Iterator[tuple[Any, Trace]]:
    """Plays the groups in parallel processes, and stores the solver's answers in this process, too."""
    from joblib.externals.loky import get_reusable_executor

    groups = list(groups)
    pool = get_reusable_executor(max_workers=len(groups), timeout=IDLE_SECONDS)
    jobs = [pool.submit(_play, *group) for group in groups]
    for job, group in zip(jobs, groups, strict=True):
        polytope: Any = group.algorithm.problem.polytope
        try:
            state, trace, answers = job.result()
        except Exception as error:
            raise UserError(f"{polytope.name}: a process ended ({message(error)})") from error
        if isinstance(trace, int):
            raise RoundError(state, trace, answers)
        polytope.remember(answers)
        yield state, trace


def _play(algorithm: Algorithm, state: Any, rounds: Rounds, draws: Draws) -> tuple[Any, Any, Any]:
    """Runs in a worker; returns the state, trace and answers, or the three arguments of a RoundError."""
    polytope: Any = algorithm.problem.polytope
    with at_most(1), np.errstate(all="ignore"):
        try:
            state, trace = play_rounds(algorithm, state, *rounds, draws)
        except RoundError as error:
            return error.round_index, error.seed_index, str(error)
        with suppress(RowError):  # raised again when best_cost is computed
            if not getattr(polytope, "counts_limits", False):
                polytope.minimise(rounds.costs)
        return state, trace, polytope.answers
