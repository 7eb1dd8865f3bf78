"""What a run shows on the terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any


@contextmanager
def progress_bar(
    label: str, rounds: int, show: bool | None = None
) -> Iterator[Callable[[int], None]]:
    """A bar of rounds, rounds/s and time left; where nobody says, on a terminal or in a notebook."""
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
    """The closing table of a run, one line high."""
    row = {
        "algorithm": algorithm,
        "average cost": _plus_minus(summary["final"]["avg_cost"]),
        "average MSE": _plus_minus(summary["final"]["avg_mse"]),
        "seeds": str(len(summary["seeds"])),
        "seconds": f"{summary['seconds']['wall']:.1f}",
        "files": relative(directory),
    }
    print(table(list(row), [list(row.values())]))


def result_line(summary: dict[str, Any]) -> str:
    """A run's result in the middle of a sweep."""
    return f"average cost {_plus_minus(summary['final']['avg_cost'])}"


def table(headings: list[str], rows: list[list[str]]) -> str:
    """Aligned columns under their headings."""
    lines = [headings, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def relative(directory: Path) -> str:
    """As seen from here, where it lies below."""
    here = Path.cwd()
    return str(directory.relative_to(here) if directory.is_relative_to(here) else directory)


def _plus_minus(figure: dict[str, Any]) -> str:
    spread = "" if figure["ci95"] is None else f" ± {figure['ci95']:.4f}"
    return f"{figure['mean']:.4f}{spread}"
