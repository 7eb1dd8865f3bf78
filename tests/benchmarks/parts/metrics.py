"""What measuring regret takes of a run, in processor time: all of it, and the best fixed parameter in hindsight."""

import time
from collections.abc import Callable, Iterator
from unittest.mock import patch

from support.problems import composed_job

from benchmarks.report import Row, Section
from odfl_cli.metrics import regret
from odfl_cli.runs.simulate import simulate

SEEDS, ROUNDS, REPETITIONS = 10, 5000, 3
ALGORITHMS = ("df_ogd", "df_ftpl", "pf_ogd", "spo")


def sections() -> Iterator[Section]:
    """The paper's algorithms and sizes."""
    rows = [row for algo in ALGORITHMS for row in rows_of(algo)]
    yield Section(f"metrics=regret, K=5 p=10 S={SEEDS} T={ROUNDS}: processor time", rows)


def rows_of(algo: str) -> Iterator[Row]:
    """The least of some repetitions; the search of a run should take at most half of it."""
    basic = min(processor_time(algo, "basic")[0] for _ in range(REPETITIONS))
    run, search = min(processor_time(algo, "regret") for _ in range(REPETITIONS))
    yield Row(f"{algo}: all of regret", run - basic, 1 - basic / run, "the run")
    yield Row(f"{algo}: comparator in hindsight", search, search / run, "the run", at_most=0.5)


def processor_time(algo: str, metrics: str) -> tuple[float, float]:
    """Seconds of a run without its start, and of the searches in hindsight within it."""
    job = composed_job(
        f"algo={algo}", f"metrics={metrics}", f"seeds={SEEDS}", f"horizon.rounds={ROUNDS}"
    )
    spent: list[float] = []
    with patch.object(regret, "in_hindsight", timed(regret.in_hindsight, spent)):
        begun = time.process_time()
        simulate(job)
        return time.process_time() - begun, sum(spent)


def timed(function: Callable[..., object], spent: list[float]) -> Callable[..., object]:
    """The function, noting the processor time of each call's thread."""

    def call(*arguments: object) -> object:
        begun = time.thread_time()
        result = function(*arguments)
        spent.append(time.thread_time() - begun)
        return result

    return call
