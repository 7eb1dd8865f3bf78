"""The display of a sweep: what the journal says of its jobs, as it grows."""

import atexit
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from odfl_cli.core.bar import Bar
from odfl_cli.runs.sweep.journal import RUNNING, Entry, Reader

POLL = 0.2
MOST_NAMED = 3
"""Running jobs whose rounds are shown."""
printing = threading.Lock()
"""Held while a line is printed; a fork waits for it, for its copy could not release a lock."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=printing.acquire,
        after_in_parent=printing.release,
        after_in_child=printing.release,
    )


class SweepProgress:
    """Reads the journal in a thread: a bar on a terminal, and a line for every job that ends."""

    def __init__(
        self, journal: Path, cells: Mapping[str, str], ended: Sequence[Entry], brief: bool
    ) -> None:
        """`cells` has the overrides that distinguish a job, by the name of its run; empty if unknown.

        `ended` are jobs that ended before. `brief`: only jobs that fail get a line.
        """
        self._cells, self._brief = cells, brief
        self._reader = Reader(journal)
        self._last: dict[int, Entry] = {}
        self._repeated: set[int] = set()  # jobs whose process was lost with that of another
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
        """Ends the display and removes the journal; the last event of every job, by its number."""
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
