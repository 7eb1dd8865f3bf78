"""A long table in a Parquet file, a few rows at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from odfl_cli.environments.replay.files import DataError
from odfl_cli.environments.replay.tables import CELLS, Chunk, Columns, Layout, check_width, layout


def header(path: Path) -> list[str]:
    """The names of the columns."""
    with _open(path) as file:
        names = list(file.schema_arrow.names)
    check_width(len(names))
    return names


def chunks(path: Path, columns: Columns, group: str | None) -> Iterator[Chunk]:
    """The rows as text labels and numbers."""
    chosen = layout(header(path), columns, group)
    labels = [name for name in (chosen.round, chosen.item, chosen.group) if name is not None]
    wanted = list(dict.fromkeys([*labels, *chosen.numbers]))
    row = 1
    with _open(path) as file:
        _check_types(file.schema_arrow, chosen)
        for batch in file.iter_batches(max(1, CELLS // len(wanted)), columns=wanted):
            yield _chunk(batch, chosen, row)
            row += batch.num_rows


def preview(path: Path, rows: int) -> list[list[str]]:
    """The first rows as text."""
    with _open(path) as file:
        first = next(file.iter_batches(rows), None)
        found = first.to_pylist() if first else []
    return [[str(cell) for cell in row.values()] for row in found]


@contextmanager
def _open(path: Path) -> Iterator[Any]:
    """The file; errors of pyarrow about its content become a DataError."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise DataError("reading Parquet needs pyarrow: pip install 'odfl[parquet]'") from error
    if not path.stat().st_size:
        raise DataError("the file is empty")
    try:
        yield ParquetFile(path)
    except (ArrowException, UnicodeDecodeError) as error:
        raise DataError(f"not a Parquet file ({' '.join(str(error).split())[:200]})") from error


def _check_types(schema: Any, chosen: Layout) -> None:
    from pyarrow import types

    for name in chosen.numbers:
        kind = schema.field(name).type
        numeric = (types.is_integer, types.is_floating, types.is_boolean, types.is_null)
        if not any(check(kind) for check in numeric):
            raise DataError(f"row 1, column {name}: holds {kind} where numbers belong")


def _chunk(batch: Any, chosen: Layout, row: int) -> Chunk:
    def labels(name: str | None) -> list[str] | None:
        if name is None:
            return None
        return ["" if label is None else str(label) for label in batch.column(name).to_pylist()]

    from pyarrow import float64

    values = np.empty((batch.num_rows, len(chosen.numbers)))
    for place, name in enumerate(chosen.numbers):
        column = batch.column(name).cast(float64(), safe=False)
        values[:, place] = column.to_numpy(zero_copy_only=False)
    lines = list(range(row, row + batch.num_rows))
    rounds = labels(chosen.round) or []
    return Chunk("row", lines, rounds, labels(chosen.item), labels(chosen.group), values)
