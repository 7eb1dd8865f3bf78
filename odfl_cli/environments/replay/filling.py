"""Missing numbers filled from earlier rounds of the same group, never from later ones."""

from typing import Literal

import numpy as np

Filling = Literal["last", "mean"]


class Filler:
    """Fills each item's features and cost with the last number seen, or the mean of those seen."""

    def __init__(self, how: Filling, shape: tuple[int, ...]) -> None:
        self.how = how
        self.last = np.full(shape, np.nan)  # [d, p + 1]
        self.total, self.count = np.zeros(shape), np.zeros(shape)

    def fill(self, values: np.ndarray) -> np.ndarray:
        """The rounds of [B, d, p + 1] in which nothing is missing, or an earlier round has it."""
        kept = []
        for round_values in values:
            seen = ~np.isnan(round_values)
            filled = np.where(seen, round_values, self._known())
            self.last = np.where(seen, round_values, self.last)
            self.total += np.where(seen, round_values, 0.0)
            self.count += seen
            if not np.isnan(filled).any():
                kept.append(filled)
        return np.array(kept).reshape(-1, *values.shape[1:])

    def _known(self) -> np.ndarray:
        if self.how == "last":
            return self.last
        return np.divide(
            self.total, self.count, out=np.full_like(self.total, np.nan), where=self.count > 0
        )
