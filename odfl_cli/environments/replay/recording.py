"""A checked file, kept on disk so that any round is found at once and none need be in memory."""

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
from odfl_cli.environments.replay.cache import cache_directory, source_digest
from odfl_cli.environments.replay.columns import Columns, OnMissing, layout
from odfl_cli.environments.replay.problems import DataError, naming_the_file, stamp, watched
from odfl_cli.environments.replay.standardise import PastScale

MOST_GROUPS = 10_000
DAY = 86400
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
    """The file's recording: found on disk, or made now, in one pass and little memory."""
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
    """Recordings of what the file held before are of no use, but a run may still be reading one."""
    for old in kept.parent.glob(f"{key}-*"):
        with suppress(FileNotFoundError):  # another process was faster
            if old != kept and time.time() - old.stat().st_mtime > DAY:
                shutil.rmtree(old, ignore_errors=True)
