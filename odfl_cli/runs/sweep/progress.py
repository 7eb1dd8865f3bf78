"""The progress of a sweep: a journal per attempt, to which jobs on any host append, and its display."""

import atexit
import json
import os
import re
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from odfl_cli.core.bar import Bar
from odfl_cli.core.files import hold, open_regular, remove_abandoned
from odfl_cli.core.locks import locked

POLL = 0.2
MOST_NAMED = 3  # the number of running jobs whose rounds are shown
printing = threading.Lock()
"""Held while a line is printed; forks wait for it, as a child could not release its copy."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=printing.acquire, after_in_parent=printing.release, after_in_child=printing.release
    )
ATTEMPT = "ODFL_ATTEMPT"
"""The environment variable with the name of the attempt at a sweep."""
NAME = re.compile(r"\.journal-[0-9a-f]{12}\.jsonl")

Event = Literal["started", "playing", "done", "skipped", "failed"]
RUNNING = ("started", "playing")


@dataclass(frozen=True)
class Entry:
    """One event of one job."""

    job: int  # its number in the sweep
    run: str  # the name of its directory
    event: Event
    seconds: float = 0.0
    message: str = ""  # its result, why it was skipped, or its error in one line
    played: float = 0.0  # the share of its rounds
    remarks: Sequence[str] = ()  # on its results, worded the same for all jobs


def journal(sweep: Path, attempt: str) -> Path:
    """The file of one attempt; two attempts at one sweep do not read each other's jobs."""
    return sweep / f".journal-{attempt}.jsonl"


def add(file: Path, entry: Entry) -> None:
    """Appends an event; ignores errors, as a full disk must not turn a result into a failure."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    with suppress(OSError), locked(file.parent), os.fdopen(open_regular(file, flags), "a") as lines:
        lines.write(json.dumps(asdict(entry)) + "\n")


def remove_old_journals(sweep: Path) -> None:
    """Removes the journals of attempts that were killed."""
    remove_abandoned(path for path in sweep.iterdir() if NAME.fullmatch(path.name))


class Reader:
    """Reads a journal while it grows; holds it until `close`."""

    def __init__(self, file: Path) -> None:
        self._path = file
        self._position = 0
        self._held = -1
        with suppress(OSError):  # a full disk
            self._held = open_regular(file, os.O_RDWR | os.O_CREAT)
            hold(self._held)

    def close(self) -> None:
        """Removes the journal."""
        self._path.unlink(missing_ok=True)
        if self._held >= 0:
            os.close(self._held)

    def news(self) -> list[Entry]:
        """The events since the last call; incomplete lines are read later, broken ones are skipped."""
        try:
            with open(self._path, "rb") as file:
                file.seek(self._position)
                lines = file.read().split(b"\n")[:-1]
        except OSError:
            return []
        self._position += sum(len(line) + 1 for line in lines)
        return [entry for line in lines if (entry := _entry(line)) is not None]


def _entry(line: bytes) -> Entry | None:
    try:
        entry = json.loads(line)
        return Entry(**entry | {"remarks": tuple(entry["remarks"])})
    except (ValueError, TypeError, KeyError):
        return None


class SweepProgress:
    """Follows the journal in a thread: a bar on a terminal, and a line for every job that ends."""

    def __init__(
        self, journal: Path, cells: Mapping[str, str], ended: Sequence[Entry], brief: bool
    ) -> None:
        """`cells` maps the name of a run to the overrides that distinguish it; empty if unknown.

        `ended` are jobs that ended before. `brief`: only jobs that fail get a line.
        """
        self._cells, self._brief = cells, brief
        self._reader = Reader(journal)
        self._last: dict[int, Entry] = {}
        self._repeated: set[int] = set()  # jobs that were lost with another one's process
        self._bar: Bar | None = None
        for entry in ended:
            self._add(entry)
        sys.stdout.flush()
        self._bar = Bar(len(cells) or None) if sys.stderr.isatty() else None
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()
        atexit.register(self.stop)  # restores the terminal when a sweep is interrupted

    def stop(self) -> dict[int, Entry]:
        """Ends the display and removes the journal; returns the last event of every job by its number."""
        atexit.unregister(self.stop)
        self._end.set()
        self._thread.join()
        if self._bar:
            self._bar.close()
        self._reader.close()
        return self._last

    def _follow(self) -> None:
        while not self._end.wait(POLL):
            self._read()
        self._read()

    def _read(self) -> None:
        with printing:
            for entry in self._reader.news():
                self._add(entry)
            if self._bar:
                running = [entry for entry in self._last.values() if entry.event in RUNNING]
                done = len(self._last) - len(running) + sum(entry.played for entry in running)
                self._bar.show(done, jobs_line(len(self._cells), list(self._last.values())))

    def _add(self, entry: Entry) -> None:
        """Prints `[3/60] algo=df_ogd data.gamma=0 done in 0.2 s: average cost 0.43 ± 0.01`."""
        if entry.event == "started" and entry.job in self._last:
            self._repeated.add(entry.job)
        if entry.event == "skipped" and entry.job in self._repeated:
            entry = replace(entry, event="done")  # its results are of this sweep
        self._last[entry.job] = entry
        if entry.event in RUNNING or (self._brief and entry.event != "failed"):
            return
        ended = sum(entry.event not in RUNNING for entry in self._last.values())
        out_of = f"/{len(self._cells)}" if self._cells else ""
        spent = f" in {entry.seconds:.1f} s" if entry.event == "done" else ""
        message = f": {entry.message}" if entry.message else ""
        cell = self._cells.get(entry.run) or entry.run
        line = f"[{ended}{out_of}] {cell} {entry.event}{spent}{message}"
        if self._bar:
            self._bar.print(line)
        else:
            with suppress(BrokenPipeError):  # `odfl run -m … | head`; the jobs go on
                print(line, flush=True)


def jobs_line(total: int, entries: list[Entry]) -> str:
    """`3/60 jobs, 0 failed; running: df_ogd 40%, df_ogd 10%, …`."""
    failed = sum(entry.event == "failed" for entry in entries)
    running = [entry for entry in entries if entry.event in RUNNING]
    named = [f"{entry.run.rpartition('-')[0]} {entry.played:.0%}" for entry in running]
    more = ["…"] if len(named) > MOST_NAMED else []
    text = ", ".join([*named[:MOST_NAMED], *more])
    out_of = f"/{total}" if total else ""
    jobs = f"{len(entries) - len(running)}{out_of} jobs, {failed} failed"
    return f"{jobs}; running: {text}" if text else jobs
