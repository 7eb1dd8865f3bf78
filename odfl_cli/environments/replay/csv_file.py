"""A long table in a CSV file, a few rows at a time."""

import csv
from collections.abc import Iterator
from itertools import chain, product
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from odfl_cli.environments.replay.files import DataError
from odfl_cli.environments.replay.tables import (
    CELLS,
    MOST_COLUMNS,
    Chunk,
    Columns,
    Layout,
    check_width,
    layout,
)

LONGEST_HEADER = 100 * MOST_COLUMNS
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-"})
"""Spellings of no value, in small letters."""


def header(path: Path) -> list[str]:
    """The names in the first line."""
    names = next(csv.reader([_first_line(path)], delimiter=delimiter(path)))
    return [name.strip() for name in names]


def delimiter(path: Path) -> str:
    """A comma, a semicolon or a tab: the one that the first line has most of."""
    return max(",;\t", key=_first_line(path).count)


def chunks(path: Path, columns: Columns, group: str | None) -> Iterator[Chunk]:
    """The rows, checked for their number of cells and turned into numbers."""
    names = header(path)
    chosen = layout(names, columns, group)
    rows_at_once = max(1, CELLS // len(names))
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter(path))
            next(reader)
            while True:
                lines, rows = _read_rows(reader, rows_at_once, len(names))
                if not rows:
                    return
                yield _chunk(names, chosen, lines, rows)
    except UnicodeDecodeError as error:
        raise DataError(f"not a text file in UTF-8 ({error.reason})") from error
    except csv.Error as error:
        raise DataError(f"not a CSV file ({error})") from error


def _first_line(path: Path) -> str:
    with path.open("rb") as file:
        raw = file.readline(LONGEST_HEADER)
    if not raw.strip():
        raise DataError("the file is empty" if not raw else "the first line should name columns")
    first = raw.splitlines()[0]  # lines may end in a carriage return alone
    if len(first) == LONGEST_HEADER:
        check_width(MOST_COLUMNS + 1)
    try:
        line = first.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"not a text file in UTF-8 ({error.reason})") from error
    check_width(max(line.count(mark) for mark in ",;\t") + 1)
    return line


def _read_rows(reader: Any, most: int, width: int) -> tuple[list[int], list[list[str]]]:
    """At most `most` rows, and their line numbers."""
    lines, rows = [], []
    for row in reader:
        if not row:
            continue
        if len(row) != width:
            raise DataError(f"line {reader.line_num}: {len(row)} cells under {width} columns")
        lines.append(reader.line_num)
        rows.append(row)
        if len(rows) == most:
            break
    return lines, rows


def _chunk(names: list[str], chosen: Layout, lines: list[int], rows: list[list[str]]) -> Chunk:
    def labels(name: str | None) -> list[str] | None:
        if name is None:
            return None
        position = names.index(name)
        return [row[position].strip() for row in rows]

    numbers = itemgetter(*map(names.index, chosen.numbers))
    cells = list(chain.from_iterable(map(numbers, rows)))
    try:
        values = np.array(cells, dtype=np.float64)
    except ValueError:
        places = product(lines, chosen.numbers)
        values = np.array([_number(cell, *at) for cell, at in zip(cells, places, strict=True)])
    rounds = labels(chosen.round) or []
    shaped = values.reshape(-1, len(chosen.numbers))
    return Chunk("line", lines, rounds, labels(chosen.item), labels(chosen.group), shaped)


def _number(cell: str, line: int, name: str) -> float:
    """NaN where the value is missing."""
    if cell.strip().lower() in MISSING:
        return np.nan
    try:
        return float(cell)
    except ValueError as error:
        shown = cell if len(cell) <= 30 else cell[:30] + "…"
        raise DataError(
            f"line {line}, column {name}: {shown!r} is not a number; data.columns.features lists the "
            "columns of numbers, data.group is one of names"
        ) from error
