"""Some rows of a long table, in memory."""

from typing import NamedTuple

import numpy as np

CELLS = 50_000
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
        cut = slice(start, stop)
        return Chunk(
            self.place,
            self.lines[cut],
            self.rounds[cut],
            self.items and self.items[cut],
            self.groups and self.groups[cut],
            self.values[cut],
        )

    def followed_by(self, later: "Chunk") -> "Chunk":
        """The rows of both."""
        return Chunk(
            self.place,
            self.lines + later.lines,
            self.rounds + later.rounds,
            self.items and self.items + (later.items or []),
            self.groups and self.groups + (later.groups or []),
            np.concatenate([self.values, later.values]),
        )

    def where(self, row: int) -> str:
        """As a user finds it in the file."""
        return f"{self.place} {self.lines[row]}"
