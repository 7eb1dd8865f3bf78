"""How many cores there are, and how many of them one job may use."""

import os

from odfl_cli.core.errors import UserError

VARIABLE = "ODFL_THREADS"
"""Set by launchers for every job; not a key of the configuration, so that it changes no identity."""


def available_cores() -> int:
    """The cores this process may use, fewer than the machine's where it is bound to some."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def allotted_threads() -> int:
    """The threads that the launcher gives to this job; without a launcher, one per core."""
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
    """How many jobs of so many threads fit on the cores."""
    return max(1, available_cores() // max(1, threads))
