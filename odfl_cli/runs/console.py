"""What a run shows on the terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from odfl_cli.core.text import plus_minus, table


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


def print_result(algorithm: str, summary: dict[str, Any], directory: Path) -> None:
    """Prints the result of a run as a table of one row."""
    final = summary["final"]
    row = {
        "algorithm": algorithm,
        "average cost": plus_minus(final["avg_cost"]["mean"], final["avg_cost"]["ci95"]),
        "average MSE": plus_minus(final["avg_mse"]["mean"], final["avg_mse"]["ci95"]),
        "seeds": str(len(summary["seeds"])),
        "seconds": f"{summary['seconds']['wall']:.1f}",
        "files": relative(directory),
    }
    print(table([list(row), list(row.values())]))


def result_line(summary: dict[str, Any]) -> str:
    """`average cost 0.43 ± 0.01`, for the line of a job of a sweep."""
    figure = summary["final"]["avg_cost"]
    return f"average cost {plus_minus(figure['mean'], figure['ci95'])}"


def relative(directory: Path) -> str:
    """The path from the current directory, if it lies below it; otherwise as it is."""
    here = Path.cwd()
    return str(directory.relative_to(here) if directory.is_relative_to(here) else directory)
