"""The number of cores and the number of threads of a job."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from typing import TypeVar

from odfl_cli.core.errors import UserError

VARIABLE = "ODFL_THREADS"
"""Set by launchers for every job; not a key of the configuration, so that it changes no identity."""

_limit: ContextVar[int | None] = ContextVar("threads of this job", default=None)
T = TypeVar("T")


def available_cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def allotted_threads() -> int:
    """The number of threads of this job: set by `at_most`, else by the launcher, else one per core."""
    if limit := _limit.get():
        return limit
    text = os.environ.get(VARIABLE, "")
    if not text:
        return available_cores()
    if not text.isdigit() or int(text) == 0:
        raise UserError(f"{VARIABLE}={text}: should be a number of threads, 1 or more")
    return int(text)


def threads_per_job(workers: int) -> int:
    """Cores for each of `workers` jobs at a time; −1 means as many workers as cores, −2 one fewer."""
    cores = available_cores()
    if workers < 0:
        workers = max(1, cores + 1 + workers)
    return max(1, cores // max(1, workers))


def jobs_at_once(threads: int) -> int:
    """The number of jobs with `threads` threads each that fit on the cores."""
    return max(1, available_cores() // max(1, threads))


@contextmanager
def at_most(threads: int | None) -> Iterator[None]:
    """Limits the threads of a job inside the block; None changes nothing."""
    before = _limit.set(threads or _limit.get())
    try:
        yield
    finally:
        _limit.reset(before)


def on_threads(function: Callable[[int], T], count: int, threads: int | None = None) -> list[T]:
    """Returns function(0), …, function(count − 1), computed on `threads` (default: all allotted) threads.

    Calls with several numbers must not be nested, as all threads could wait for each other.
    """
    threads = min(count, threads or allotted_threads()) if count > 1 else 1
    if threads == 1:
        return [function(number) for number in range(count)]
    pool = _pool(threads)
    calls = [pool.submit(copy_context().run, function, number) for number in range(count)]
    return [call.result() for call in calls]


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """The thread pool that all blocks and jobs of the process share."""
    return ThreadPoolExecutor(threads)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a fork does not copy threads
