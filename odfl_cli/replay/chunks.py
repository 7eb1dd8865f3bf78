"""Some rows of a long table, in memory."""

from itertools import chain
from typing import NamedTuple

import numpy as np

CELLS = 100_000
"""Cells read at once: what bounds the memory."""


class Chunk(NamedTuple):
    """Consecutive rows: where they stand in the file, their labels, and their numbers."""

    place: str  # what the file calls a row: line or row
    lines: list[int]
    rounds: list[str]
    items: list[str] | None
    groups: list[str] | None
    values: np.ndarray  # [rows, features + 1], the cost last

    def part(self, start: int, stop: int) -> "Chunk":
        """Rows start ≤ i < stop."""
        cut = [None if values is None else values[start:stop] for values in self[1:]]
        return Chunk(self.place, *cut)  # type: ignore[arg-type]

    def where(self, row: int) -> str:
        """As a user finds it in the file."""
        return f"{self.place} {self.lines[row]}"


def joined(first: Chunk, second: Chunk) -> Chunk:
    """The rows of both."""
    lists = [
        None if one is None else list(chain(one, other))
        for one, other in zip(first[1:-1], second[1:-1], strict=True)
    ]
    values = np.concatenate([first.values, second.values])
    return Chunk(first.place, *lists, values)  # type: ignore[arg-type]
