"""The display of a sweep: what the journal says of its jobs, as it grows."""

import atexit
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odfl_cli.runs.sweep.journal import RUNNING, Entry, Reader

if TYPE_CHECKING:
    from rich.console import Console

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

    def __init__(self, journal: Path, total: int | None) -> None:
        self._journal = journal
        self._reader = Reader(journal)
        self._total = total
        self._last: dict[int, Entry] = {}
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def note(self, entry: Entry) -> None:
        """A job that ended before the display was started."""
        self._last[entry.job] = entry
        print(self._line(entry))

    def start(self) -> None:
        """Starts the thread."""
        sys.stdout.flush()
        self._bar = Bar(self._total) if sys.stderr.isatty() else None
        self._thread.start()
        atexit.register(self.stop)  # restores the terminal when a sweep is interrupted

    def stop(self) -> dict[int, Entry]:
        """Ends the display and removes the journal; the last event of every job, by its number."""
        atexit.unregister(self.stop)
        self._end.set()
        self._thread.join()
        if self._bar:
            self._bar.close()
        self._journal.unlink(missing_ok=True)
        return self._last

    def _follow(self) -> None:
        while not self._end.wait(POLL):
            self._read()
        self._read()

    def _read(self) -> None:
        with printing:
            for entry in self._reader.news():
                self._last[entry.job] = entry
                if entry.event not in RUNNING:
                    self._print(self._line(entry))
            if self._bar:
                self._bar.show(list(self._last.values()))

    def _line(self, entry: Entry) -> str:
        """[3/60] df_ogd-1a2b… done in 0.2 s: average cost 0.43 ± 0.01."""
        ended = sum(entry.event not in RUNNING for entry in self._last.values())
        out_of = f"/{self._total}" if self._total else ""
        spent = f" in {entry.seconds:.1f} s" if entry.event == "done" else ""
        message = f": {entry.message}" if entry.message else ""
        return f"[{ended}{out_of}] {entry.run} {entry.event}{spent}{message}"

    def _print(self, line: str) -> None:
        if self._bar:
            self._bar.print(line)
        else:
            print(line, flush=True)


class Bar:
    """A bar of jobs, how far the running ones are, and the time spent and left."""

    def __init__(self, total: int | None, console: "Console | None" = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.progress import TimeRemainingColumn as TimeLeft
        from rich.table import Column

        # In a narrow terminal the jobs are cut, not the times.
        time = Column(no_wrap=True, min_width=len("0:00:00"))
        columns: tuple[Any, ...] = (
            BarColumn(bar_width=20),
            TimeElapsedColumn(table_column=time),
            TextColumn("spent"),
            TimeLeft(table_column=time),
            TextColumn("left"),
            TextColumn("{task.fields[jobs]}", markup=False),
        )
        self._total = total
        self._rich = Progress(*columns, console=console or Console(stderr=True), transient=True)
        self._task = self._rich.add_task("", total=total, jobs=jobs_line(0, total, []))
        self._rich.start()

    def show(self, entries: list[Entry]) -> None:
        """Updates the bar; a running job counts by the share of its rounds."""
        running = [entry for entry in entries if entry.event in RUNNING]
        ended = len(entries) - len(running)
        self._rich.update(
            self._task,
            completed=ended + sum(entry.played for entry in running),
            jobs=jobs_line(ended, self._total, entries),
        )

    def print(self, line: str) -> None:
        """Prints a line above the bar."""
        self._rich.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Removes the bar."""
        self._rich.stop()


def jobs_line(ended: int, total: int | None, entries: list[Entry]) -> str:
    """`3/60 jobs, 0 failed; running: df_ogd 40%, df_ogd 10%, …`."""
    out_of = f"/{total}" if total else ""
    failed = sum(entry.event == "failed" for entry in entries)
    running = [entry for entry in entries if entry.event in RUNNING]
    named = [f"{entry.run.rpartition('-')[0]} {entry.played:.0%}" for entry in running]
    more = ["…"] if len(named) > MOST_NAMED else []
    text = ", ".join([*named[:MOST_NAMED], *more])
    return f"{ended}{out_of} jobs, {failed} failed" + (f"; running: {text}" if text else "")
