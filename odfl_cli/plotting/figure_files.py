"""Figures and tables as files that appear whole or not at all, and are drawn only if they changed."""

import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from odfl_cli.core.errors import UserError
from odfl_cli.core.files import atomic, check_replaceable, explain_write_errors, read_regular
from odfl_cli.core.reading import read_json

if TYPE_CHECKING:  # a figure that is up to date needs neither
    import pandas as pd
    from matplotlib.figure import Figure

STAMPS = ".drawn.json"
DIGITS = "%.6g"  # of tables: the same on every machine
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
        yield self.numbers.to_csv(index=False, lineterminator="\n", float_format=DIGITS).encode()

    def owns(self, path: Path, content: bytes) -> bool:
        """Whether an existing file looks like one of these: drawn by matplotlib, or with its columns."""
        if path.suffix != ".csv":
            return b"atplotlib" in content
        heading = content.split(b"\n", 1)[0].decode(errors="replace")
        first, last = self.numbers.columns[[0, -1]]
        return heading.startswith(f"{first},") and heading.endswith(f",{last}")


def write_sheets(
    sheets: list[Sheet], out: Path, formats: tuple[str, ...], force: bool
) -> list[Path]:
    """Writes all files and returns their paths; a UserError if one is not ours, unless `force`."""
    recorded = [item for files in _read_stamps(out).values() for item in files.items()]
    for sheet in sheets:
        for path in sheet.paths(out, formats):
            known = (path.name, _digest(path)) in recorded
            check_replaceable(path, partial(sheet.owns, path), force or known)
    with explain_write_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    for sheet in sheets:
        for path, content in zip(sheet.paths(out, formats), sheet.contents(formats), strict=True):
            _write(path, content)
    return [path for sheet in sheets for path in sheet.paths(out, formats)]


def find_drawn(out: Path, stamp: str) -> list[Path]:
    """The files that were drawn from the same inputs, if all are still as they were; else none."""
    files = _read_stamps(out).get(stamp, {})
    unchanged = all(_digest(out / name) == checksum for name, checksum in files.items())
    return [out / name for name in files] if unchanged else []


def record_drawn(out: Path, stamp: str, paths: list[Path]) -> None:
    """Records the inputs of the files, replacing earlier records of them."""
    files = {path.name: _digest(path) for path in paths}
    stamps = _read_stamps(out).items()
    others = {other: known for other, known in stamps if not known.keys() & files.keys()}
    _write(out / STAMPS, json.dumps({**others, stamp: files}, indent=1).encode())


def _read_stamps(out: Path) -> dict[str, dict[str, str]]:
    """Stamp → name → checksum of the files drawn in a folder; nothing where the record is broken."""
    with suppress(OSError, UserError, AttributeError):
        content = read_json(out / STAMPS)
        if all(Path(name).name == name for files in content.values() for name, _ in files.items()):
            return content
    return {}


def _digest(path: Path) -> str | None:
    try:
        return hashlib.sha256(read_regular(path)).hexdigest()
    except (OSError, UserError):
        return None


def _write(path: Path, content: bytes) -> None:
    """Leaves a file alone that holds the same."""
    if _digest(path) != hashlib.sha256(content).hexdigest():
        with explain_write_errors(path), atomic(path, "wb") as file:
            file.write(content)
