"""The cells of a Parquet file, row by row."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from odfl_cli.environments.replay.files import CELLS, DataError, Opened

BUFFER = 1 << 16
"""Bytes read ahead per column; by default pyarrow reads a whole row group, often the whole file."""


@contextmanager
def open_parquet(path: Path) -> Iterator[Opened]:
    """The names of the columns, and the rows."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise DataError(
            "reading Parquet needs pyarrow: pip install -e '.[parquet]' in odfl's clone"
        ) from error
    if not path.stat().st_size:
        raise DataError("the file is empty")
    try:
        with ParquetFile(path, pre_buffer=False, buffer_size=BUFFER) as file:
            names = list(file.schema_arrow.names)
            batches = file.iter_batches(max(1, CELLS // max(1, len(names))))
            columns = ([column.to_pylist() for column in batch.columns] for batch in batches)
            rows = (row for several in columns for row in zip(*several, strict=True))
            yield names, ((f"row {n}", row) for n, row in zip(count(1), rows, strict=False))
    except DataError:
        raise
    except OverflowError as error:  # dates that Python does not have
        raise DataError(f"a date or a number is out of range ({error})") from error
    except (ArrowException, ValueError) as error:  # not UTF-8, no such time zone
        raise DataError(f"not a Parquet file ({' '.join(str(error).split())[:200]})") from error
