"""Filled values and scales, which depend only on earlier rounds of the same group."""

from collections.abc import Iterator
from typing import Literal

import numpy as np

from odfl_cli.environments.replay.batches import Batch

BOUND = 10.0
"""Standardised features are clipped to ± this many deviations, as early ones can be arbitrarily large."""
NOISE = 1e-14  # a variance below this share of the mean square is a rounding error


def fill_missing(batches: Iterator[Batch], how: Literal["last", "mean"]) -> Iterator[Batch]:
    """The batches with missing numbers filled by an item's last value or mean; skips rounds without earlier values."""
    past: dict[str, np.ndarray] = {}  # group → the last number, the sum, the count, each [d, p + 1]
    for batch in batches:
        nothing = [np.full(batch.values.shape[1:], start) for start in (np.nan, 0.0, 0.0)]
        last, total, count = past.setdefault(batch.group, np.stack(nothing))  # changed in place
        complete = []
        for values in batch.values:
            seen = ~np.isnan(values)
            mean = np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
            filled = np.where(seen, values, last if how == "last" else mean)
            last[seen] = values[seen]
            total[seen] += values[seen]
            count += seen
            if not np.isnan(filled).any():
                complete.append(filled)
        kept = np.array(complete).reshape(-1, *batch.values.shape[1:])
        yield Batch(batch.group, kept, batch.skipped + len(batch.values) - len(kept))


class PastScale:
    """Mean and variance of every feature over all items of the rounds so far."""

    def __init__(self, features: int) -> None:
        self.count = 0
        self.origin = np.zeros(features)  # sums of differences from it lose fewer digits
        self.sums = np.zeros((2, features))  # of the differences, and of their squares

    def standardise(self, X: np.ndarray) -> np.ndarray:
        """(X_t − mean) / deviation of rounds before t, within ±BOUND; 0 while constant, NaN if not offered."""
        rounds, items, _ = X.shape
        absent = np.isnan(X)
        if not self.count:
            self.origin = X[0, (~absent[0, :, 0]).argmax()].copy()
        shifted = np.where(absent, 0.0, X - self.origin)
        sums = np.zeros((2, rounds + 1, X.shape[-1]))
        sums[:, 0] = self.sums
        for item in range(items):
            sums[0, 1:] += shifted[:, item]
            sums[1, 1:] += shifted[:, item] ** 2
        np.cumsum(sums, axis=1, out=sums)
        self.sums = sums[:, -1].copy()
        counts = self.count + np.append(0, np.cumsum((~absent[..., 0]).sum(axis=1)))
        count = np.maximum(counts[:-1], 1)[:, None]
        self.count = int(counts[-1])
        mean, square = sums[:, :-1] / count
        variance = square - mean**2
        varied = variance > NOISE * square
        deviation = np.sqrt(np.where(varied, variance, 1.0))
        scaled = np.where(varied[:, None], (shifted - mean[:, None]) / deviation[:, None], 0.0)
        return np.where(absent, np.nan, np.clip(scaled, -BOUND, BOUND))
