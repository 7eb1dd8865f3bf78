"""What a run shows on the terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from odfl_cli.core.statistics import interval
from odfl_cli.core.text import plus_minus, relative, table
from odfl_cli.results.summary import Seeds, Summary


@contextmanager
def progress_bar(label: str, rounds: int) -> Iterator[Callable[[int], None]]:
    """A bar of rounds, rounds/s and time left on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
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
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=rounds, speed="–")

        def advance(done: int) -> None:
            elapsed = progress.tasks[task].elapsed or 0.0
            speed = f"{done / elapsed:,.0f}" if elapsed > 0 else "–"
            progress.update(task, completed=done, speed=speed)

        yield advance


def print_result(summary: Summary, seeds: Seeds, directory: Path) -> None:
    """The closing table of a run, one line high; averages are over the seeds asked for."""
    row = {
        "algorithm": summary.choices["algo"],
        "average cost": _average(summary, "avg_cost", seeds),
        "average MSE": _average(summary, "avg_mse", seeds),
        "seeds": str(len(seeds)),
        "seconds": f"{summary.content['seconds']['wall']:.1f}",
        "files": relative(directory),
    }
    print(table([list(row), list(row.values())]))


def result_line(summary: Summary, seeds: Seeds) -> str:
    """A run's result in the middle of a sweep."""
    return f"average cost {_average(summary, 'avg_cost', seeds)}"


def _average(summary: Summary, column: str, seeds: Seeds) -> str:
    return plus_minus(**interval(summary.finals(column, seeds)))
