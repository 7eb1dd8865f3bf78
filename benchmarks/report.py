"""One table for all measurements."""

import csv
import os
import platform
from dataclasses import dataclass, field
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

COLUMNS = ("part", "section", "what", "time", "ratio", "against", "memory", "target", "machine")


@dataclass(frozen=True)
class Row:
    """One measurement: seconds, their ratio to another measurement of the same run, and memory."""

    what: str
    seconds: float | None = None
    ratio: float | None = None
    against: str = ""
    megabytes: float | None = None
    at_least: float | None = None  # what the ratio should be
    at_most: float | None = None
    below_megabytes: float | None = None
    at_most_seconds: float | None = None


@dataclass(frozen=True)
class Section:
    """Measurements of one kind; the title says what a second is divided by."""

    title: str
    rows: list[Row] = field(default_factory=list)


def print_table(sections: list[Section]) -> None:
    """Prints the table."""
    table = Table(
        title=f"odfl on {os.cpu_count()} cores, {processor()}; best of several repetitions",
        title_justify="left",
        box=box.SIMPLE_HEAD,
    )
    table.add_column("")  # folds, so that no figure is cut
    for heading in ("time", "ratio", "", "peak memory", "target"):
        table.add_column(heading, no_wrap=True, justify="left" if not heading else "right")
    for section in sections:
        table.add_row(f"[bold]{section.title}[/bold]")
        for what, *cells in map(in_words, section.rows):
            table.add_row(f"  {what}", *cells)
        table.add_section()
    Console(width=150).print(table)


def in_words(row: Row) -> tuple[str, ...]:
    """What, time, ratio, against what, memory, target."""
    ratio = "" if row.ratio is None else f"{row.ratio:,.2f}×"
    memory = "" if row.megabytes is None else f"{row.megabytes:,.0f} MB"
    return row.what, in_units(row.seconds), ratio, row.against, memory, verdict(row)


def record(part: str, sections: list[Section], file: Path) -> None:
    """Writes a part's measurements into a CSV file, in place of earlier ones of that part."""
    kept = []
    if file.is_file():
        with file.open(newline="", encoding="utf-8") as old:
            kept = [row for row in list(csv.reader(old))[1:] if row[0] != part]
    machine = f"{os.cpu_count()} cores, {processor()}"
    new = [
        [part, section.title, *in_words(row), machine]
        for section in sections
        for row in section.rows
    ]
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(sorted([*kept, *new], key=lambda row: row[0]))


def in_units(seconds: float | None) -> str:
    """0.0000016 as 1.60 µs."""
    if seconds is None:
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.2f} {unit}"
    return f"{seconds / 1e-6:.2f} µs"


def verdict(row: Row) -> str:
    """The bound and whether it was met."""
    bounds = (
        ("≥ {:g}", row.at_least, lambda bound: row.ratio >= bound),
        ("≤ {:g}", row.at_most, lambda bound: row.ratio <= bound),
        ("< {:g} MB", row.below_megabytes, lambda bound: row.megabytes < bound),
        ("≤ {:g} s", row.at_most_seconds, lambda bound: row.seconds <= bound),
    )
    return ", ".join(
        f"{words.format(bound)}: {'met' if kept(bound) else 'MISSED'}"
        for words, bound, kept in bounds
        if bound is not None
    )


def processor() -> str:
    """The processor's name, if the system has it."""
    try:
        with open("/proc/cpuinfo") as file:
            names = [
                line.split(":", 1)[1].strip() for line in file if line.startswith("model name")
            ]
        return names[0]
    except (OSError, IndexError):
        return platform.processor() or platform.machine()
