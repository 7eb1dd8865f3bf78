"""Arrays X [T, d, p], or [T, p] for all items, and c [T, d] in an NPZ file, or both by groups, named by `seed`."""

import lzma
import math
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy

from odfl_cli.environments.replay.batches import Batch, find_wrong, select_rounds
from odfl_cli.environments.replay.files import CELLS, DataError
from odfl_cli.environments.replay.tables import SEED, OnMissing

UNREADABLE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, tokenize.TokenError,
    EOFError, ValueError, RuntimeError, NotImplementedError, SyntaxError, OverflowError,
)  # fmt: skip
"""Errors of zipfile and numpy for members that are corrupt, encrypted or not arrays."""


def batches(path: Path, on_missing: OnMissing) -> Iterator[Batch]:
    """The rounds to play; raises a DataError for infinite or forbidden missing numbers."""
    for group, start, values in blocks(path):
        if wrong := find_wrong(values, on_missing):
            (t, item, column), reason = wrong
            feature = f", feature {column}" if column < values.shape[-1] - 1 else ""
            where = f"round {start + t}, item {item}{feature}, group {group} (counted from 0)"
            raise DataError(f"{'X' if feature else 'c'}, {where}: {reason}")
        yield select_rounds(group, values, on_missing)


def blocks(path: Path) -> Iterator[tuple[str, int, np.ndarray]]:
    """Yields (group, first round, values [B, d, p + 1]) in the order of the file."""
    with _open(path) as arrays:
        X, c = arrays["X"], arrays["c"]
        shared = len(X.shape) == len(c.shape) and X.shape[:-1] == c.shape[:-1]  # as in PyEPO
        groups, rounds, items, features = _sizes(X.shape, c.shape, shared)
        at_once = max(1, CELLS // (items * (features + 1)))
        for group in _names(arrays.get(SEED), groups):
            for start in range(0, rounds, at_once):
                count = min(at_once, rounds - start)
                rows = X.take(count, 1 if shared else items, features)
                parts = np.broadcast_to(rows, (count, items, features)), c.take(count, items, 1)
                yield group, start, np.concatenate(parts, axis=-1)


class _Array:
    """One member of the archive, read sequentially."""

    def __init__(self, name: str, stream: IO[bytes]) -> None:
        version = npy.read_magic(stream)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        self.shape, fortran, self.dtype = read(stream)
        self.name, self.stream = name, stream
        if self.dtype.kind not in "fiub":
            raise DataError(f"{name} holds {self.dtype} where numbers belong")
        if fortran and len(self.shape) > 1:
            raise DataError(f"{name} is stored by columns; save np.ascontiguousarray({name})")

    def take(self, *shape: int) -> np.ndarray:
        """The next numbers, in the given shape."""
        size = math.prod(shape) * self.dtype.itemsize
        raw = self.stream.read(size)
        if len(raw) < size:
            raise DataError(f"{self.name} ends before its last number")
        return np.frombuffer(raw, self.dtype).astype(np.float64).reshape(shape)


@contextmanager
def _open(path: Path) -> Iterator[dict[str, _Array]]:
    """The arrays X, c and perhaps seed; raises a DataError if one is missing or unreadable."""
    if not path.stat().st_size:
        raise DataError("the file is empty")
    try:
        with zipfile.ZipFile(path) as archive, ExitStack() as stack:
            there = {member.removesuffix(".npy"): member for member in sorted(archive.namelist())}
            found = {"X" if name == "x" and "X" not in there else name: name for name in there}
            for name in ("X", "c"):
                if name not in found:
                    listed = ", ".join(there)[:200] or "none"
                    raise DataError(f"there is no array {name}; there are {listed}")
            yield {
                name: _Array(name, stack.enter_context(archive.open(there[found[name]])))
                for name in ("X", "c", SEED)
                if name in found
            }
    except DataError:
        raise
    except UNREADABLE as error:
        raise DataError(f"not an NPZ file ({' '.join(str(error).split())[:200]})") from error


def _sizes(features: tuple[int, ...], costs: tuple[int, ...], shared: bool) -> tuple[int, ...]:
    """(groups, T, d, p) from the shapes of X and c."""
    if shared:
        features = (*costs, features[-1])
    if len(features) not in {3, 4} or features[:-1] != costs:
        raise DataError(
            f"X has shape {features} and c {costs}; X [T, d, p], or [T, p] for features that all "
            "items share, and c [T, d] are needed, or both with an axis of groups before"
        )
    if 0 in features:
        raise DataError(f"X has shape {features}: it holds no rounds")
    return features if len(features) == 4 else (1, *features)


def _names(seeds: _Array | None, groups: int) -> list[str]:
    """The names of the groups: the seeds in the file, or their numbers if it has none."""
    if seeds is None:
        return [str(group) for group in range(groups)]
    if seeds.shape != (groups,) or seeds.dtype.kind not in "iu":
        raise DataError(
            f"{SEED} has shape {seeds.shape} of {seeds.dtype}; a whole number for each "
            f"of the {groups} groups is needed"
        )
    names = [f"{seed:.0f}" for seed in seeds.take(groups)]
    if len(set(names)) < groups:
        raise DataError(f"{SEED} names two groups alike")
    return names
