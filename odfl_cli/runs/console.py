"""What a run shows on the terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from odfl_cli.core.statistics import interval
from odfl_cli.core.text import plus_minus, relative, table
from odfl_cli.results.summary import Seeds, Summary


@contextmanager
def progress_bar(
    label: str, rounds: int, show: bool | None = None
) -> Iterator[Callable[[int], None]]:
    """A bar of rounds, rounds/s and time left; by default on a terminal or in a notebook.

    Yields a function that is called with the number of rounds played.
    """
    if not (is_watched() if show is None else show):
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("rounds  {task.fields[speed]} rounds/s "),
        TimeLeft(),
    )
    console = Console(stderr=True, force_terminal=show)
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(label, total=rounds, speed="–")

        def advance(done: int) -> None:
            elapsed = progress.tasks[task].elapsed or 0.0
            speed = f"{done / elapsed:,.0f}" if elapsed > 0 else "–"
            progress.update(task, completed=done, speed=speed)

        yield advance


def is_watched() -> bool:
    """Whether somebody sees a bar: on a terminal, or in a notebook that has the widgets for it."""
    in_notebook = "ipykernel" in sys.modules and find_spec("ipywidgets") is not None
    return sys.stderr.isatty() or in_notebook


def print_result(summary: Summary, seeds: Seeds, directory: Path) -> None:
    """The closing table of a run, one line high; averages are over the seeds asked for."""
    row = {
        "algorithm": summary.content["choices"]["algo"],
        "average cost": average(summary, "avg_cost", seeds),
        "average MSE": average(summary, "avg_mse", seeds),
        "seeds": str(len(seeds)),
        "seconds": f"{summary.content['seconds']['wall']:.1f}",
        "files": relative(directory),
    }
    print(table([list(row), list(row.values())]))


def average(summary: Summary, column: str, seeds: Seeds) -> str:
    """A column after the last round: its mean over the seeds, and the interval."""
    return plus_minus(**interval(summary.finals(column, seeds)))
