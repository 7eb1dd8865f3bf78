"""A checked file in binary form on disk: random access to its rounds without loading all of them."""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from odfl_cli.config.identity import digest
from odfl_cli.core.files import write_json
from odfl_cli.environments.replay import csv_file, npz_file, parquet_file
from odfl_cli.environments.replay.batches import Assembler, Batch
from odfl_cli.environments.replay.files import (
    DataError,
    cache_directory,
    naming_the_file,
    source_digest,
    stamp,
    watched,
)
from odfl_cli.environments.replay.tables import Columns, OnMissing, layout

MOST_GROUPS = 10_000
DAY = 86400
NOISE = 1e-14  # a variance below this share of the mean square is a rounding error
TABLES = {".csv": csv_file, ".parquet": parquet_file}


@dataclass(frozen=True)
class Recording:
    """Rounds by random access, group by group."""

    directory: str
    items: int
    features: int
    groups: list[str]
    lengths: list[int]  # rounds of every group
    skipped: int  # rounds left out because something was missing

    def read(self, group: int, start: int, stop: int) -> np.ndarray:
        """Rounds start ≤ t < stop of a group, [B, d, p + 1], the cost last."""
        size = self.items * (self.features + 1)
        place = Path(self.directory, f"{group}.bin")
        values = np.fromfile(place, count=(stop - start) * size, offset=8 * start * size)
        return values.reshape(stop - start, self.items, self.features + 1)


def record(
    path: Path, columns: Columns, group: str | None, standardise: bool, on_missing: OnMissing
) -> Recording:
    """The file's recording: from disk, or made now, in one pass and little memory."""
    with naming_the_file(path):
        check_file(path)
        asked = [str(path.resolve()), asdict(columns), group, standardise, on_missing]
        key = digest([*asked, source_digest(__file__)])
        directory = cache_directory("replay") / f"{key}-{digest(list(stamp(path)))}"
        if not directory.is_dir():
            batches = watched(path, _batches(path, columns, group, on_missing))
            _keep(batches, directory, standardise)
            _forget(directory, key)
        return Recording(str(directory), **json.loads((directory / "shape.json").read_text()))


def check_file(path: Path) -> None:
    """There is such a file, of a kind that can be read."""
    if path.suffix.lower() not in {*TABLES, ".npz"}:
        raise DataError("the name should end in .csv, .parquet or .npz")
    if not path.is_file():
        raise DataError("there is no such file")


def _batches(
    path: Path, columns: Columns, group: str | None, on_missing: OnMissing
) -> Iterator[Batch]:
    kind = path.suffix.lower()
    if kind == ".npz":
        if group is not None:
            raise DataError(f"data.group={group}: the groups of an NPZ file are its first axis")
        return npz_file.batches(path, on_missing)
    table = TABLES[kind]
    assembler = Assembler(layout(table.header(path), columns, group), on_missing)
    return assembler.batches(table.chunks(path, columns, group))


def _keep(batches: Iterator[Batch], directory: Path, standardise: bool) -> None:
    """Writes the recording; it appears under its name only once it is complete."""
    temporary = Path(tempfile.mkdtemp(dir=directory.parent, prefix=".partial-"))
    try:
        shape = _write(batches, temporary, standardise)
        write_json(temporary / "shape.json", shape)
        try:
            os.rename(temporary, directory)
        except OSError:
            if not directory.is_dir():  # unless another process was faster
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _write(batches: Iterator[Batch], directory: Path, standardise: bool) -> dict:
    lengths: dict[str, int] = {}
    scales: dict[str, PastScale] = {}
    skipped, sizes = 0, (0, 0)
    for batch in batches:
        values = batch.values
        sizes = values.shape[1], values.shape[2] - 1
        if standardise and len(values):
            scale = scales.setdefault(batch.group, PastScale(sizes[1]))
            values[..., :-1] = scale.standardise(values[..., :-1])
        lengths[batch.group] = lengths.get(batch.group, 0) + len(values)
        if len(lengths) > MOST_GROUPS:
            raise DataError(f"more than {MOST_GROUPS} groups; each is one seed")
        with open(directory / f"{list(lengths).index(batch.group)}.bin", "ab") as file:
            file.write(np.ascontiguousarray(values, dtype=np.float64).tobytes())
        skipped += batch.skipped
    if not sum(lengths.values()):
        raise DataError("every round misses something" if skipped else "the file holds no rounds")
    return {
        "items": sizes[0],
        "features": sizes[1],
        "groups": list(lengths),
        "lengths": list(lengths.values()),
        "skipped": skipped,
    }


def _forget(kept: Path, key: str) -> None:
    """Deletes recordings of earlier contents of the file, unless a run may still be reading them."""
    for old in kept.parent.glob(f"{key}-*"):
        with suppress(FileNotFoundError):  # another process was faster
            if old != kept and time.time() - old.stat().st_mtime > DAY:
                shutil.rmtree(old, ignore_errors=True)


class PastScale:
    """Mean and variance of every feature over all items of the rounds so far.

    No round is scaled by itself or by later ones.
    """

    def __init__(self, features: int) -> None:
        self.count = 0
        self.origin = np.zeros(features)  # sums of differences from it lose fewer digits
        self.sums = np.zeros((2, features))  # of the differences, and of their squares

    def standardise(self, X: np.ndarray) -> np.ndarray:
        """(X_t − mean) / deviation of rounds before t; 0 while a feature has not varied yet."""
        rounds, items, _ = X.shape
        if not self.count:
            self.origin = X[0, 0].copy()
        apart = X - self.origin
        sums = np.zeros((2, rounds + 1, X.shape[-1]))
        sums[:, 0] = self.sums
        for item in range(items):
            sums[0, 1:] += apart[:, item]
            sums[1, 1:] += apart[:, item] ** 2
        np.cumsum(sums, axis=1, out=sums)
        self.sums = sums[:, -1].copy()
        count = np.maximum(self.count + items * np.arange(rounds), 1)[:, None]
        self.count += rounds * items
        mean, square = sums[:, :-1] / count
        variance = square - mean**2
        varied = variance > NOISE * square
        deviation = np.sqrt(np.where(varied, variance, 1.0))
        return np.where(varied[:, None], (apart - mean[:, None]) / deviation[:, None], 0.0)
