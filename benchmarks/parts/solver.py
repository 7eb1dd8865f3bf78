"""The overhead of odfl for a user's solver: per call, per stored answer, and in two processes."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from benchmarks.report import Row, Section
from benchmarks.timing import best_of, job_of
from odfl_cli.algorithms.base import on_problem
from odfl_cli.core.cores import at_most, available_cores
from odfl_cli.problem.polytopes.solver import Solver
from odfl_cli.runs.simulate import simulate

D, CALLS, SEEDS, ROUNDS = 24, 300, 10, 200


def sections() -> Iterator[Section]:
    """Ten seeds per round with a solver that does nothing, and with one of 2 ms."""
    yield Section(f"a user's solver, d={D} S={SEEDS}: per call", [*overhead()])
    yield Section(f"a solver of 2 ms, S={SEEDS}: per seed and round", [*processes()])


def overhead() -> Iterator[Row]:
    """A function that returns its argument, called by odfl and directly."""
    rows = np.random.default_rng(0).normal(size=(CALLS, SEEDS, D))

    def per_call(solve: Callable[[np.ndarray], object]) -> float:
        return best_of(5, lambda: [solve(costs) for costs in rows]) / (CALLS * SEEDS)

    def ask_anew(costs: np.ndarray) -> object:
        polytope._caller.memo.clear()
        return polytope.minimise(costs)

    polytope = Solver(dimension=D, solve=lambda costs: costs)
    added = per_call(ask_anew)
    yield Row("called and checked", added, at_most_seconds=1e-4)
    polytope.minimise(rows)
    yield Row("an answer that is kept", per_call(polytope.minimise))


def processes() -> Iterator[Row]:
    """The same run in one process and in two; the solver sleeps, so that other jobs do not matter."""
    chosen = ("algo=pf_ogd", "polytope=solver", "polytope.solve=support.solvers.sleepy")
    job = job_of(*chosen, f"data.items={D}", f"seeds={SEEDS}", rounds=ROUNDS)
    seconds = {}
    for cores in (1, min(2, available_cores())):
        with at_most(cores):
            for _ in range(cores):  # the first of two runs starts the processes
                polytope = replace(job.algorithm.problem.polytope)
                problem = replace(job.algorithm.problem, polytope=polytope)
                begun = time.perf_counter()
                simulate(replace(job, algorithm=on_problem(job.algorithm, problem)))
                seconds[cores] = (time.perf_counter() - begun) / (ROUNDS * SEEDS)
    yield Row("one process", seconds[1])
    ratio = seconds[1] / seconds.get(2, seconds[1])
    yield Row("two processes", seconds.get(2), ratio, "one process", at_least=1.7)
