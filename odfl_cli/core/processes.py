"""Copies of this process that work side by side, and end with it."""

import os
import signal
import struct
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from io import FileIO
from typing import NamedTuple, NoReturn

from odfl_cli.core.errors import report

Task = Callable[[int], float]
NUMBER, ANSWER = struct.Struct("<i"), struct.Struct("<id")
"""A task's number, and the same with its value: few enough bytes to pass a pipe in one piece."""
POLL = 0.5


def side_by_side(count: int, workers: int, task: Task) -> Iterator[tuple[int, float]]:
    """(number, task(number)) for the numbers below `count`, as they end, from `workers` copies.

    A task whose process is killed gives nothing. If the iteration is left early, all are killed.
    """
    numbers, answers = Pipe.new(), Pipe.new()
    children = [_fork(numbers, answers, task) for _ in range(workers)]
    numbers.reader.close()
    answers.writer.close()
    waiting = iter(range(count))
    try:
        for _ in range(2 * workers):  # a second one each, so that none waits for this process
            _hand_out(numbers, waiting)
        while answer := answers.reader.read(ANSWER.size):  # nothing: all copies have ended
            _hand_out(numbers, waiting)
            number, value = ANSWER.unpack(answer)
            yield number, value
    finally:
        numbers.writer.close()
        answers.reader.close()
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def end_with_parent() -> None:
    """Ends this process soon after the one that started it, however that one ended."""
    parent = os.getppid()

    def watch() -> NoReturn:
        while os.getppid() == parent:
            time.sleep(POLL)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@cache
def serve_parent() -> None:
    """For a process that works for another: it ends with that one, and leaves Ctrl-C to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()


@contextmanager
def deaf_children() -> Iterator[None]:
    """Processes started within it by this thread never see Ctrl-C, which other threads here do."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Pipe(NamedTuple):
    """Two ends, each of which may be closed more than once."""

    reader: FileIO  # reads nothing when every writer is closed
    writer: FileIO

    @classmethod
    def new(cls) -> "Pipe":
        """An open one."""
        read, write = os.pipe()
        return cls(FileIO(read, "r"), FileIO(write, "w"))

    def write(self, content: bytes) -> None:
        """In one piece; lost if there is no reader any more."""
        with suppress(BrokenPipeError):
            self.writer.write(content)


def _hand_out(numbers: Pipe, waiting: Iterator[int]) -> None:
    number = next(waiting, None)
    if number is None:
        numbers.writer.close()  # by which the copies know that they may end
    else:
        numbers.write(NUMBER.pack(number))


def _fork(numbers: Pipe, answers: Pipe, task: Task) -> int:
    """The process number of a copy that works off the tasks it is given."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # else the copy would write what is waiting, too
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads that a copy lacks; none holds a lock it needs
        child = os.fork()
    if child == 0:
        _work(numbers, answers, task)
    return child


def _work(numbers: Pipe, answers: Pipe, task: Task) -> NoReturn:
    """What a copy does, whatever happens in it: it leaves Ctrl-C to the process that waits for it."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        end_with_parent()
        if torch := sys.modules.get("torch"):
            torch.set_num_threads(1)  # a copy lacks the threads of OpenMP, and would wait for them
        numbers.writer.close()
        answers.reader.close()
        while text := numbers.reader.read(NUMBER.size):
            (number,) = NUMBER.unpack(text)
            answers.write(ANSWER.pack(number, task(number)))
    except BaseException as error:
        report(error)
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(0)
