"""The cells of a CSV file, row by row."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from odfl_cli.environments.replay.files import DataError, Opened

MOST_COLUMNS = 10_000
LONGEST_HEADER = 100 * MOST_COLUMNS


@contextmanager
def open_csv(path: Path) -> Iterator[Opened]:
    """The names of the columns and the non-empty rows; cells are separated by comma, semicolon or tab."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = file.readline(LONGEST_HEADER)
            if not first.strip():
                empty = "the first line should name columns" if first else "the file is empty"
                raise DataError(empty)
            delimiter = max(",;\t", key=first.count)
            check_width(len(first) if len(first) == LONGEST_HEADER else first.count(delimiter) + 1)
            file.seek(0)
            reader = csv.reader(file, delimiter=delimiter)
            names = [name.strip() for name in next(reader)]
            yield names, ((f"line {reader.line_num}", row) for row in reader if row)
    except UnicodeDecodeError as error:
        raise DataError(f"not a text file in UTF-8 ({error.reason})") from error
    except csv.Error as error:
        raise DataError(f"not a CSV file ({error})") from error


def check_width(count: int) -> None:
    """Raises a DataError for more columns than a table of features can have."""
    if count > MOST_COLUMNS:
        raise DataError(f"more than {MOST_COLUMNS} columns in the first line; features are columns")
