"""Worker processes that run tasks in parallel and end with their parent."""

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache
from multiprocessing import active_children, get_context
from typing import NoReturn

from odfl_cli.core.errors import report

Task = Callable[[int], float]
POLL = 0.5


def side_by_side(count: int, workers: int, task: Task) -> Iterator[tuple[int, float]]:
    """Yields (number, task(number)) for the numbers below `count` as they end, from forked workers.

    A task that raises or whose process is killed yields nothing. A killed process breaks its pool:
    the tasks lost with it are run again, each in its own process.
    """
    lost = yield from _run_pool(range(count), workers, task)
    for number in lost:
        yield from _run_pool([number], 1, task)


def _run_pool(
    numbers: Iterable[int], workers: int, task: Task
) -> Generator[tuple[int, float], None, list[int]]:
    """Runs the tasks in one pool; returns the numbers of those lost with a killed process."""
    lost = []
    with _pool(workers, task) as pool:
        futures = {pool.submit(_call, number): number for number in numbers}
        for future in as_completed(futures):
            try:
                value = future.result()
            except BrokenProcessPool:
                lost.append(futures[future])
            else:
                if value is not None:
                    yield futures[future], value
    return sorted(lost)


@contextmanager
def _pool(workers: int, task: Task) -> Iterator[ProcessPoolExecutor]:
    """An executor of forked processes, which are killed if the block is left early."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # otherwise every worker would write the buffer again
    before = set(active_children())
    pool = ProcessPoolExecutor(workers, get_context("fork"), _start_worker, (task,))
    try:
        with warnings.catch_warnings():
            # Python warns about forks beside threads; ours hold no lock that a worker needs
            warnings.simplefilter("ignore", DeprecationWarning)
            yield pool
        pool.shutdown()
    finally:
        for child in set(active_children()) - before:
            child.kill()
        pool.shutdown(cancel_futures=True)


_task: Task | None = None
"""The function that a worker calls; inherited by the fork, as closures cannot be pickled."""


def _start_worker(task: Task) -> None:
    global _task  # noqa: PLW0603
    _task = task
    serve_parent()
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)  # a fork lacks the threads of OpenMP, and would wait for them


def _call(number: int) -> float | None:
    assert _task is not None
    try:
        return _task(number)
    except BaseException as error:
        report(error)
        return None


@cache
def serve_parent() -> None:
    """Makes this process exit when its parent does, and ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid()

    def watch() -> NoReturn:
        while os.getppid() == parent:
            time.sleep(POLL)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def children_ignore_sigint() -> Iterator[None]:
    """Processes started by this thread inside the block ignore Ctrl-C; other threads do not."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
