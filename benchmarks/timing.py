"""Best of several repetitions."""

import resource
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from support.problems import block_of, composed_job

from odfl_cli.engine.base import Engine
from odfl_cli.problem.problem import Horizon
from odfl_cli.runs.simulate import Job, Simulation, simulate


def best_of(repetitions: int, function: Callable[[], object]) -> float:
    """Seconds of the fastest call."""
    return min(seconds(function) for _ in range(repetitions))


def seconds(function: Callable[[], object]) -> float:
    """Seconds of one call."""
    begun = time.perf_counter()
    function()
    return time.perf_counter() - begun


def busy(function: Callable[[], object]) -> float:
    """Processor seconds of one call, all threads together: other processes do not count."""
    begun = time.process_time()
    function()
    return time.process_time() - begun


def busy_child(function: Callable[[], object]) -> float:
    """Processor seconds of the processes that a call runs to their end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    function()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def job_of(*overrides: str, rounds: int, engine: Engine | None = None) -> Job:
    """The job of `odfl run …` with every round logged, on the given engine or the chosen one."""
    job = composed_job(*overrides, f"horizon.rounds={rounds}")
    horizon = Horizon(rounds=rounds, rows=max(2, rounds))
    return replace(job, engine=engine or job.engine, horizon=horizon)


def per_seed_round(job: Job, phase: str, simulations: Iterable[Simulation]) -> float:
    """The least seconds of a phase, per seed and round."""
    least = min(simulation.seconds[phase] for simulation in simulations)
    return least / (len(job.seeds) * job.horizon.rounds)


def learning(job: Job, repetitions: int = 3) -> float:
    """The least processor seconds of the engine alone, per seed and round."""
    length, seeds = job.horizon.rounds, len(job.seeds)
    job.engine.start(job.algorithm)
    state = job.algorithm.init(seeds, job.environment.theta_star(job.seeds))
    given = job.algorithm, state, *block_of(job, 0, length)
    job.engine.advance(*given)
    least = min(busy(lambda: job.engine.advance(*given)) for _ in range(repetitions))
    return least / (seeds * length)


def repeat(job: Job, repetitions: int) -> list[Simulation]:
    """Runs of the same job, after a short one that loads modules and kernels."""
    simulate(replace(job, horizon=Horizon(rounds=min(20, job.horizon.rounds))))
    return [simulate(job) for _ in range(repetitions)]


def assert_same_costs(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Raises unless both have the same costs, as only then speeds are comparable."""
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
