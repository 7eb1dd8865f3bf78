"""The display of a sweep: what the journal says of its jobs, as it grows."""

import atexit
import sys
import threading
from pathlib import Path
from typing import Any

from odfl_cli.runs.sweep.journal import Entry, Reader

POLL = 0.2


class SweepProgress:
    """Reads the journal in a thread: a bar on a terminal, and a line for every job that ends."""

    def __init__(self, journal: Path, total: int | None) -> None:
        self._journal = journal
        self._reader = Reader(journal)
        self._total = total
        self._last: dict[int, Entry] = {}
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._bar = _Bar(self._total) if sys.stderr.isatty() else None
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
        for entry in self._reader.news():
            self._last[entry.job] = entry
            if entry.event != "started":
                self._print(self._line(entry))
        if self._bar:
            self._bar.show(self._counts())

    def _counts(self) -> dict[str, int]:
        events = [entry.event for entry in self._last.values()]
        return {event: events.count(event) for event in ("done", "skipped", "failed", "started")}

    def _line(self, entry: Entry) -> str:
        """[3/60] df_ogd-1a2b… done in 0.2 s: average cost 0.43 ± 0.01."""
        counts = self._counts()
        ended = sum(counts.values()) - counts["started"]
        of = f"/{self._total}" if self._total else ""
        spent = f" in {entry.seconds:.1f} s" if entry.event == "done" else ""
        message = f": {entry.message}" if entry.message else ""
        return f"[{ended}{of}] {entry.run} {entry.event}{spent}{message}"

    def _print(self, line: str) -> None:
        if self._bar:
            self._bar.print(line)
        else:
            print(line, flush=True)


class _Bar:
    """A bar of jobs done, running and failed, and the time left."""

    def __init__(self, total: int | None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeRemainingColumn as TimeLeft

        columns: tuple[Any, ...] = (
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("jobs  {task.fields[running]} running  {task.fields[failed]} failed "),
            TimeLeft(),
        )
        self._rich = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._rich.add_task("", total=total, running=0, failed=0)
        self._rich.start()

    def show(self, counts: dict[str, int]) -> None:
        """Updates the bar."""
        self._rich.update(
            self._task,
            completed=sum(counts.values()) - counts["started"],
            running=counts["started"],
            failed=counts["failed"],
        )

    def print(self, line: str) -> None:
        """Prints a line above the bar."""
        self._rich.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Removes the bar."""
        self._rich.stop()
