"""Figures and tables as files that appear whole or not at all."""

import io
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from odfl_cli.core.errors import UserError
from odfl_cli.core.files import atomic

# Without dates: the same numbers give the same bytes.
FORMATS: dict[str, dict[str, Any]] = {
    "png": {"dpi": 200},
    "pdf": {"metadata": {"CreationDate": None}},
}


def make_directory(out: Path) -> None:
    """Makes the directory of the figures, or says why it cannot be."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _refusal(out, error) from None


class Sheet(NamedTuple):
    """A figure, and its numbers, under one file name."""

    stem: str
    figure: Figure
    numbers: pd.DataFrame

    def write(self, out: Path) -> list[Path]:
        """Writes <stem>.png, <stem>.pdf and <stem>.csv."""
        paths = []
        for ending, options in FORMATS.items():
            content = io.BytesIO()
            self.figure.savefig(content, format=ending, **options)
            paths.append(_write(out / f"{self.stem}.{ending}", content.getvalue()))
        return [*paths, write_table(self.numbers, out, self.stem)]


def write_table(table: pd.DataFrame, out: Path, stem: str) -> Path:
    """Writes <stem>.csv."""
    return _write(out / f"{stem}.csv", table.to_csv(index=False, lineterminator="\n").encode())


def _write(path: Path, content: bytes) -> Path:
    try:
        with atomic(path, "wb") as file:
            file.write(content)
    except OSError as error:
        raise _refusal(path, error) from None
    return path


def _refusal(path: Path, error: OSError) -> UserError:
    return UserError(f"--out: cannot write {path} ({error.strerror})")
