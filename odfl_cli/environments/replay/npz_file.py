"""Arrays X [T, d, p] and c [T, d] in an NPZ file, or both with an axis of groups, which `seed` [S] may name."""

import lzma
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.lib import format as npy

from odfl_cli.environments.replay.batches import MISSING, Batch, usable
from odfl_cli.environments.replay.files import DataError
from odfl_cli.environments.replay.tables import CELLS, OnMissing

SEED = "seed"
UNREADABLE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, tokenize.TokenError,
    EOFError, ValueError, RuntimeError, NotImplementedError, SyntaxError, OverflowError,
)  # fmt: skip
"""What zipfile and numpy raise for members that are corrupt, encrypted or no arrays."""


class Shape(NamedTuple):
    """Sizes that both arrays agree on."""

    groups: int
    rounds: int
    items: int
    features: int


def batches(path: Path, on_missing: OnMissing) -> Iterator[Batch]:
    """The rounds, some at a time, checked to be finite."""
    names = _names(path)
    for group, start, values in _blocks(path):
        name = names[group] if names else str(group)
        yield _check(name, start, values, on_missing)


def numbers(path: Path) -> Iterator[np.ndarray]:
    """All numbers as rows of features and cost."""
    for _, _, values in _blocks(path):
        yield values.reshape(-1, values.shape[-1])


def _blocks(path: Path) -> Iterator[tuple[int, int, np.ndarray]]:
    """(group, first round, [B, d, p + 1]) from the beginning to the end."""
    with _open(path) as (features, costs):
        shape = _shape(features.shape, costs.shape)
        at_once = max(1, CELLS // (shape.items * (shape.features + 1)))
        for group in range(shape.groups):
            for start in range(0, shape.rounds, at_once):
                count = min(at_once, shape.rounds - start)
                X = features.take(count * shape.items * shape.features)
                c = costs.take(count * shape.items)
                X = X.reshape(count, shape.items, shape.features)
                values = np.concatenate([X, c.reshape(count, shape.items, 1)], axis=-1)
                yield group, start, values


def _names(path: Path) -> list[str] | None:
    """The seeds that the groups are named after, if the file has them."""
    with _open(path) as (features, costs), zipfile.ZipFile(path) as archive:
        if f"{SEED}.npy" not in archive.namelist():
            return None
        with archive.open(f"{SEED}.npy") as stream:
            seeds = _Array(SEED, stream)
            groups = _shape(features.shape, costs.shape).groups
            if seeds.shape != (groups,) or seeds.dtype.kind not in "iu":
                raise DataError(
                    f"{SEED} has shape {seeds.shape} of {seeds.dtype}; a whole number for each "
                    f"of the {groups} groups is needed"
                )
            names = [f"{seed:.0f}" for seed in seeds.take(groups)]
    if len(set(names)) < groups:
        raise DataError(f"{SEED} names two groups alike")
    return names


class _Array:
    """One member of the archive, read from its beginning to its end."""

    def __init__(self, name: str, stream: IO[bytes]) -> None:
        version = npy.read_magic(stream)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        self.shape, fortran, self.dtype = read(stream)
        self.name, self.stream = name, stream
        if self.dtype.kind not in "fiub":
            raise DataError(f"{name} holds {self.dtype} where numbers belong")
        if fortran and len(self.shape) > 1:
            raise DataError(f"{name} is stored by columns; save np.ascontiguousarray({name})")

    def take(self, count: int) -> np.ndarray:
        """The next `count` numbers."""
        raw = self.stream.read(count * self.dtype.itemsize)
        if len(raw) < count * self.dtype.itemsize:
            raise DataError(f"{self.name} ends before its last number")
        return np.frombuffer(raw, self.dtype).astype(np.float64)


@contextmanager
def _open(path: Path) -> Iterator[tuple[_Array, _Array]]:
    """The arrays X and c; a DataError if there are none, or their content cannot be read."""
    if not path.stat().st_size:
        raise DataError("the file is empty")
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member.removesuffix(".npy") for member in archive.namelist()]
            for name in ("X", "c"):
                if f"{name}.npy" not in archive.namelist():
                    there = ", ".join(sorted(members)) or "none"
                    raise DataError(f"there is no array {name}; there are {there[:200]}")
            with archive.open("X.npy") as X, archive.open("c.npy") as c:
                yield _Array("X", X), _Array("c", c)
    except DataError:
        raise
    except UNREADABLE as error:
        raise DataError(f"not an NPZ file ({' '.join(str(error).split())[:200]})") from error


def _shape(features: tuple[int, ...], costs: tuple[int, ...]) -> Shape:
    if len(features) not in {3, 4} or features[:-1] != costs:
        raise DataError(
            f"X has shape {features} and c {costs}; X [T, d, p] and c [T, d] are needed, "
            "or both with an axis of groups before"
        )
    if 0 in features:
        raise DataError(f"X has shape {features}: it holds no rounds")
    groups = features[0] if len(features) == 4 else 1
    return Shape(groups, *features[-3:])


def _check(group: str, start: int, values: np.ndarray, on_missing: OnMissing) -> Batch:
    """The rounds to play; a DataError where a number is infinite, or missing and may not be."""
    missing = np.isnan(values)
    wrong = np.isinf(values) | (missing if on_missing == "refuse" else False)
    if wrong.any():
        t, item, column = (int(place[0]) for place in np.nonzero(wrong))
        feature = f", feature {column}" if column < values.shape[-1] - 1 else ""
        where = f"{'X' if feature else 'c'}, round {start + t}, item {item}{feature}, group {group}"
        reason = MISSING if missing[t, item, column] else "infinite"
        raise DataError(f"{where} (counted from 0): {reason}")
    return usable(group, values, on_missing)
