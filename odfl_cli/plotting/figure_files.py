"""Figures and tables as files that appear whole or not at all, and are drawn only if they changed."""

import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from odfl_cli.core.errors import UserError
from odfl_cli.core.files import atomic, check_replaceable, read_regular
from odfl_cli.core.reading import read_json

if TYPE_CHECKING:  # a figure that is up to date needs neither
    import pandas as pd
    from matplotlib.figure import Figure

STAMPS = ".drawn.json"
# Without dates: the same numbers give the same bytes.
OPTIONS: dict[str, dict[str, Any]] = {
    "png": {"dpi": 200},
    "pdf": {"metadata": {"CreationDate": None}},
    "svg": {"metadata": {"Date": None}},
}


class Sheet(NamedTuple):
    """A figure, drawn when it is written, and its numbers, under one file name."""

    stem: str
    draw: "Callable[[], Figure]"
    numbers: "pd.DataFrame"

    def paths(self, out: Path, formats: Iterable[str]) -> list[Path]:
        """<stem>.<format> for each format, and <stem>.csv."""
        return [out / f"{self.stem}.{ending}" for ending in (*formats, "csv")]

    def write(self, out: Path, formats: Iterable[str]) -> None:
        """Writes all its files."""
        figure = self.draw()
        _place(figure)
        for path, ending in zip(self.paths(out, formats), formats, strict=False):
            content = io.BytesIO()
            figure.savefig(content, format=ending, **OPTIONS[ending])
            _write(path, content.getvalue())
        write_table(self.numbers, out, self.stem)


def _place(figure: "Figure") -> None:
    """Lays the figure out once for all formats; savefig draws one with a layout engine twice each."""
    from matplotlib import rc_context

    figure.set_dpi(OPTIONS["png"]["dpi"])
    if engine := figure.get_layout_engine():
        engine.execute(figure)
    with rc_context({"figure.autolayout": False, "figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)


def write_sheets(sheets: list[Sheet], out: Path, formats: tuple[str, ...]) -> list[Path]:
    """Writes all; returns the paths in their order."""
    for sheet in sheets:
        sheet.write(out, formats)
    return [path for sheet in sheets for path in sheet.paths(out, formats)]


def check_targets(
    sheets: Iterable[Sheet], out: Path, formats: tuple[str, ...], force: bool
) -> None:
    """Refuses to replace files that odfl did not draw.

    A file is ours if `remember` recorded it, matplotlib drew it, or it has the new table's columns.
    """
    for sheet in sheets:
        for path in sheet.paths(out, formats)[:-1]:
            check_replaceable(
                path, _recorded_or(path, lambda content: b"atplotlib" in content), force
            )
        check_table(sheet.numbers, out, sheet.stem, force)


def check_table(table: "pd.DataFrame", out: Path, stem: str, force: bool) -> None:
    """Refuses to replace <stem>.csv unless it is recorded or has the same first and last columns."""
    ends = {place: str(table.columns[place]) for place in (0, -1)}

    def is_ours(content: bytes) -> bool:
        try:
            names = next(csv.reader(content.decode(errors="replace").splitlines()[:1]), []) or [""]
        except csv.Error:  # no table at all
            return False
        return all(names[place] == name for place, name in ends.items())

    path = out / f"{stem}.csv"
    check_replaceable(path, _recorded_or(path, is_ours), force)


def _recorded_or(path: Path, looks_ours: Callable[[bytes], bool]) -> Callable[[bytes], bool]:
    """A check whether a file is as `remember` recorded it, or else looks like one of ours."""
    stamps = _stamps(path.parent).values()
    recorded = {files[path.name] for files in stamps if path.name in files}
    return lambda content: _digest(path) in recorded or looks_ours(content)


def write_table(table: "pd.DataFrame", out: Path, stem: str) -> Path:
    """Writes <stem>.csv."""
    return _write(out / f"{stem}.csv", table.to_csv(index=False, lineterminator="\n").encode())


def make_directory(out: Path) -> None:
    """Makes the directory of the figures, or says why it cannot be."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _refusal(out, error) from None


def drawn_before(out: Path, stamp: str) -> list[Path]:
    """The files that were drawn from the same inputs, if all are still as they were; else none."""
    files = _stamps(out).get(stamp, {})
    paths = [out / name for name in files]
    return paths if files and all(_digest(p) == files[p.name] for p in paths) else []


def remember(out: Path, stamp: str, paths: list[Path]) -> None:
    """Records the inputs of the files, replacing earlier records of them."""
    files = {path.name: _digest(path) for path in paths}
    others = {
        other: known for other, known in _stamps(out).items() if not known.keys() & files.keys()
    }
    _write(out / STAMPS, json.dumps({**others, stamp: files}, indent=1).encode())


def _stamps(out: Path) -> dict[str, dict[str, str]]:
    with suppress(OSError, UserError):
        content = read_json(out / STAMPS)
        if all(_is_listing(files) for files in content.values()):
            return content
    return {}


def _is_listing(files: Any) -> bool:
    """Whether it maps names of files, none of them elsewhere, to checksums."""
    return isinstance(files, dict) and all(
        isinstance(checksum, str) and Path(name).name == name for name, checksum in files.items()
    )


def _digest(path: Path) -> str | None:
    try:
        return hashlib.sha256(read_regular(path)).hexdigest()
    except (OSError, UserError):
        return None


def _write(path: Path, content: bytes) -> Path:
    """Leaves a file alone that holds the same."""
    try:
        if _digest(path) == hashlib.sha256(content).hexdigest():
            return path
        with atomic(path, "wb") as file:
            file.write(content)
    except OSError as error:
        raise _refusal(path, error) from None
    return path


def _refusal(path: Path, error: OSError) -> UserError:
    return UserError(f"--out: cannot write {path} ({error.strerror})")
