"""Progress bars on stderr."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any


class Bar:
    """A progress bar with the time spent, the time left and a text; closing it removes it."""

    def __init__(self, total: int | None, console: Any = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.progress import TimeRemainingColumn as TimeLeft
        from rich.table import Column

        time = Column(no_wrap=True, min_width=len("0:00:00"))  # a narrow screen cuts the text
        columns: tuple[Any, ...] = (
            BarColumn(bar_width=20),
            TimeElapsedColumn(table_column=time),
            TextColumn("spent"),
            TimeLeft(table_column=time),
            TextColumn("left"),
            TextColumn("{task.fields[text]}", markup=False),
        )
        self._rich = Progress(*columns, console=console or Console(stderr=True), transient=True)
        self._task = self._rich.add_task("", total=total, text="")
        self._rich.start()

    def show(self, done: float, text: str) -> None:
        """Updates the bar and the text."""
        self._rich.update(self._task, completed=done, text=text)

    def print(self, line: str) -> None:
        """Prints a line above the bar."""
        self._rich.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Removes the bar."""
        self._rich.stop()


@contextmanager
def progress_bar(
    label: str, total: int | None, show: bool | None = None, unit: str = "rounds"
) -> Iterator[Callable[[int], None]]:
    """Shows a progress bar, by default on a terminal or in a notebook; yields a function of the units done."""
    if not (is_watched() if show is None else show):
        yield lambda done: None
        return
    from rich.console import Console

    bar, begun = Bar(total, Console(stderr=True, force_terminal=show)), time.perf_counter()

    def advance(done: int) -> None:
        speed = done / (time.perf_counter() - begun)
        out_of = f"/{total:,}" if total else ""
        bar.show(done, f"{label} {done:,}{out_of} {unit}, {speed:,.0f} {unit}/s")

    try:
        yield advance
    finally:
        bar.close()


def is_watched() -> bool:
    """True on a terminal, or in a notebook that has the widgets for a bar."""
    in_notebook = "ipykernel" in sys.modules and find_spec("ipywidgets") is not None
    return sys.stderr.isatty() or in_notebook
