"""Processes that a test starts, and that do not outlive it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

LIMIT = 300
"""Seconds after which a test gives up on a process: more than any load makes of them."""
ODFL = (sys.executable, "-m", "odfl_cli")
Process = subprocess.Popen[str]
Start = Callable[..., Process]
IGNORED_UNDER_NOHUP = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)


@contextmanager
def starting() -> Iterator[Start]:
    """A function that starts commands, whose processes are killed at the end of the block."""
    with ExitStack() as running:

        def start(*command: str, **options: Any) -> Process:
            return running.enter_context(_start(command, **options))

        yield start


@contextmanager
def _start(command: tuple[str, ...], **options: Any) -> Iterator[Process]:
    """A process in a group of its own, with its output in pipes unless `options` differ."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with default_signals():
        process = subprocess.Popen(command, start_new_session=True, **(pipes | options))
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:  # else its number may be another process's by now
                os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def default_signals() -> Iterator[None]:
    """Children begin with the default handling of signals.

    A signal that this process ignores, as under `nohup` or in the background of a script, its
    children would ignore too; one that it handles, they do not inherit.
    """
    before = {number: signal.signal(number, lambda *_: None) for number in IGNORED_UNDER_NOHUP}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
