"""Figures and tables, written atomically."""

import io
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from odfl_cli.core.files import atomic, check_replaceable, explain_write_errors

if TYPE_CHECKING:  # slow imports
    import pandas as pd
    from matplotlib.figure import Figure

DIGITS = "%.6g"  # of tables: the same on every machine
ROUNDING = 1e-11  # of the largest number in a column: what is smaller is 0
# Without dates: the same numbers give the same bytes.
OPTIONS: dict[str, dict[str, Any]] = {
    "png": {"dpi": 200},
    "pdf": {"metadata": {"CreationDate": None}},
    "svg": {"metadata": {"Date": None}},
}


class Sheet(NamedTuple):
    """A figure, drawn when it is written, and its numbers, under one file name."""

    stem: str
    draw: "Callable[[], Figure] | None"  # None: a table alone
    numbers: "pd.DataFrame"

    def paths(self, out: Path, formats: Iterable[str]) -> list[Path]:
        """<stem>.<format> for each format of the figure, and <stem>.csv."""
        endings = (*(formats if self.draw else ()), "csv")
        return [out / f"{self.stem}.{ending}" for ending in endings]

    def contents(self, formats: Iterable[str]) -> Iterator[bytes]:
        """The content of each file, in the order of `paths`."""
        if self.draw:
            figure = self.draw()
            figure.set_dpi(OPTIONS["png"]["dpi"])
            if engine := figure.get_layout_engine():  # once; savefig does it twice for each format
                engine.execute(figure)
            figure.set_layout_engine("none")
            for ending in formats:
                content = io.BytesIO()
                figure.savefig(content, format=ending, **OPTIONS[ending])
                yield content.getvalue()
        floats = self.numbers.select_dtypes("float")
        zeros = floats.abs() < ROUNDING * floats.abs().max()
        table = self.numbers.assign(**floats.mask(zeros, 0.0))
        yield table.to_csv(index=False, lineterminator="\n", float_format=DIGITS).encode()

    def owns(self, path: Path, content: bytes) -> bool:
        """True if an existing file looks like one of these: by matplotlib, or with two of its columns."""
        if path.suffix != ".csv":
            return b"atplotlib" in content
        heading = content.split(b"\n", 1)[0].decode(errors="replace")
        return len(set(heading.split(",")).intersection(self.numbers)) > 1


def write_sheets(
    sheets: list[Sheet], out: Path, formats: tuple[str, ...], force: bool
) -> list[Path]:
    """Writes all files and returns their paths; raises if odfl did not write one, unless `force`."""
    for sheet in sheets:
        for path in sheet.paths(out, formats):
            check_replaceable(path, partial(sheet.owns, path), force)
    with explain_write_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    for sheet in sheets:
        for path, content in zip(sheet.paths(out, formats), sheet.contents(formats), strict=True):
            with explain_write_errors(path), atomic(path, "wb") as file:
                file.write(content)
    return [path for sheet in sheets for path in sheet.paths(out, formats)]
