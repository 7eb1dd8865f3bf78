"""Stores a validated file in binary form, for random access to its rounds."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from odfl_cli.config.identity import digest, hash_file
from odfl_cli.core.files import write_json
from odfl_cli.core.reading import UnreadableError, is_intact, read_json, seal
from odfl_cli.core.text import did_you_mean
from odfl_cli.environments.replay import npz_file
from odfl_cli.environments.replay.batches import Assembler, Batch, sort_rows
from odfl_cli.environments.replay.files import (
    DataError,
    cache_directory,
    name_file_in_errors,
    source_digest,
    stamp,
    watch_files,
)
from odfl_cli.environments.replay.past import PastScale, fill_missing
from odfl_cli.environments.replay.tables import (
    OPENERS,
    SEED,
    Columns,
    Layout,
    OnMissing,
    layout,
    read_layout,
    read_rows,
)

MOST_GROUPS = 10_000
DAY = 86400
SHAPE, PARTIAL = "shape.json", ".partial-"
PACKAGE = "package:"
STREAMS = str(Path(__file__).parents[1] / "streams" / "__init__.py")


@dataclass(frozen=True)
class Recording:
    """Rounds by random access, group by group."""

    directory: str
    items: int
    features: int
    groups: list[str]
    lengths: list[int]  # rounds of every group
    skipped: int  # rounds left out because something was missing
    masked: bool  # whether some rounds do not offer every item
    names: list[str]  # of the features; empty if the file has none

    def seeds(self, group: str | None) -> list[int] | None:
        """The seeds of the groups, if an array or a column `seed` (the `group`) names them."""
        named = group in {None, SEED}
        whole = all(name.isdecimal() and name == str(int(name)) for name in self.groups)
        return [int(name) for name in self.groups] if named and whole else None

    def read(self, group: int, start: int, stop: int) -> np.ndarray:
        """Rounds start ≤ t < stop of a group, [B, d, p + 1], the cost last; NaN: not offered."""
        size = self.items * (self.features + 1)
        place = Path(self.directory, f"{group}.bin")
        values = np.fromfile(place, count=(stop - start) * size, offset=8 * start * size)
        return values.reshape(stop - start, self.items, self.features + 1)


Content = tuple[tuple[Path, ...], list[str], "Callable[[], Iterator[Batch]] | TableReader"]
"""The files behind a recording, the names of its features, and a reader of its rounds."""


class TableReader(NamedTuple):
    """Reads the rounds of a table, a few rows at a time or all rows sorted."""

    path: Path
    chosen: Layout
    on_missing: OnMissing

    def __call__(self, sort: bool = False) -> Iterator[Batch]:
        """The rounds, from the first row."""
        rows = partial(read_rows, self.path, self.chosen)
        ordered = (lambda: sort_rows(rows())) if sort else rows
        return Assembler(self.chosen, self.on_missing).batches(ordered)


def record(
    path: Path, columns: Columns, group: str | None, standardise: bool, on_missing: OnMissing
) -> Recording:
    """The file's recording, from the cache or written in one pass with little memory."""
    with name_file_in_errors(path):
        files, names, read = _find_content(path, columns, group, on_missing)
        asked = [list(map(str, files)), asdict(columns), group, standardise, on_missing]
        key = digest([*asked, str(path.name), source_digest(__file__), source_digest(STREAMS)])
        state = digest([number for file in files for number in stamp(file)])
        directory = cache_directory("recordings") / f"{key}-{state}"
        if not _is_whole(directory):
            store = partial(_store, directory=directory, standardise=standardise, names=names)
            fill = partial(_fill, on_missing)
            try:
                store(fill(watch_files(files, read())))
            except DataError:
                if not isinstance(read, TableReader):
                    raise
                store(fill(watch_files(files, read(sort=True))))
            _remove_old(directory, key)
        return Recording(str(directory), **read_json(directory / SHAPE)["recording"])


def check_file(path: Path) -> None:
    """Raises a DataError unless the file exists and has a supported ending."""
    if path.suffix.lower() not in {*OPENERS, ".npz"}:
        raise DataError("the name should end in .csv, .parquet or .npz")
    if not os.path.isfile(path):
        raise DataError("there is no such file")


def _find_content(
    path: Path, columns: Columns, group: str | None, on_missing: OnMissing
) -> Content:
    """The content of a user's file, or of the stream package:NAME."""
    if str(path).startswith(PACKAGE):
        return _find_stream(str(path).removeprefix(PACKAGE), columns)
    check_file(path)
    files = (path.resolve(),)
    if path.suffix.lower() == ".npz":
        if group is not None:
            raise DataError(f"data.group={group}: the groups of an NPZ file are its first axis")
        return files, [], partial(npz_file.batches, path, on_missing)
    chosen = read_layout(path, columns, group)
    return files, list(chosen.numbers[:-1]), TableReader(path, chosen, on_missing)


def _fill(on_missing: OnMissing, batches: Iterator[Batch]) -> Iterator[Batch]:
    """The batches, with missing numbers filled if `on_missing` is last or mean."""
    return fill_missing(batches, on_missing) if on_missing in ("last", "mean") else batches


def _find_stream(name: str, columns: Columns) -> Content:
    """A stream inside an installed package."""
    from odfl_cli.environments.streams import find_sources

    sources, (module, _, name) = find_sources(), name.rpartition(".")
    if module:
        sources = _import_sources(module)
    if name not in sources:
        raise DataError(f"there is no such stream; {did_you_mean(name, sources)}")
    source, labels = sources[name], (columns.round, columns.item or "", *columns.costs)
    names = layout([*filter(None, labels), *source.features], columns, None).numbers[:-1]
    kept, files = [*map(source.features.index, names), -1], source.files()
    read = lambda: (b._replace(values=b.values[..., kept]) for b in source.batches(files))  # noqa: E731
    return files, list(names), read


def _import_sources(module: str) -> dict[str, Any]:
    """The `SOURCES` of a user's module."""
    try:
        return import_module(module).SOURCES
    except (ImportError, AttributeError) as error:
        raise DataError(f"no SOURCES in {module}: {error}") from error


def _is_whole(directory: Path) -> bool:
    """True if there is an intact recording, by the stamps of its files or else by their content."""
    try:
        shape = read_json(directory / SHAPE)
        if not is_intact(shape):
            return False
        for name, (stamped, sha) in shape["files"].items():
            now = stamp(directory / name)
            if digest(now) != stamped and hash_file(directory / name, *now) != sha:
                return False
        return True
    except (OSError, UnreadableError):
        return False


def _store(batches: Iterator[Batch], directory: Path, standardise: bool, names: list[str]) -> None:
    """Writes the recording under a temporary name and renames it, unless another process was faster."""
    temporary = Path(tempfile.mkdtemp(dir=directory.parent, prefix=PARTIAL))
    try:
        shape = _write(batches, temporary, standardise) | {"names": names}
        files = [temporary / f"{group}.bin" for group in range(len(shape["groups"]))]
        known = {p.name: [digest(stamp(p)), hash_file(p, *stamp(p))] for p in files}
        write_json(temporary / SHAPE, seal({"recording": shape, "files": known}))
        if not _is_whole(directory):
            shutil.rmtree(directory, ignore_errors=True)  # a damaged one
            with suppress(OSError):
                os.rename(temporary, directory)
        if not _is_whole(directory):
            raise DataError(f"{directory} cannot be written")
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _write(batches: Iterator[Batch], directory: Path, standardise: bool) -> dict[str, Any]:
    """Appends the rounds to one file per group; returns the fields of the recording."""
    lengths: dict[str, int] = {}
    scales: dict[str, PastScale] = {}
    skipped, items, features, masked = 0, 0, 0, False
    for group, values, lost in batches:
        items, features = values.shape[1], values.shape[2] - 1
        if standardise and len(values):
            scale = scales.setdefault(group, PastScale(features))
            values[..., :-1] = scale.standardise(values[..., :-1])
        masked = masked or bool(np.isnan(values[..., -1]).any())
        skipped += lost
        lengths[group] = lengths.get(group, 0) + len(values)
        if len(lengths) > MOST_GROUPS:
            raise DataError(f"more than {MOST_GROUPS} groups; each is one seed")
        with open(directory / f"{list(lengths).index(group)}.bin", "ab") as file:
            file.write(np.ascontiguousarray(values, dtype=np.float64).tobytes())
    if not sum(lengths.values()):
        raise DataError("every round misses something" if skipped else "the file holds no rounds")
    sizes = {"items": items, "features": features, "skipped": skipped, "masked": masked}
    return sizes | {"groups": list(lengths), "lengths": list(lengths.values())}


def _remove_old(kept: Path, key: str) -> None:
    """Deletes outdated and partial recordings older than a day; a run may still use newer ones."""
    for old in (*kept.parent.glob(f"{key}-*"), *kept.parent.glob(f"{PARTIAL}*")):
        with suppress(FileNotFoundError):  # another process has removed it
            if old != kept and time.time() - old.stat().st_mtime > DAY:
                shutil.rmtree(old, ignore_errors=True)
