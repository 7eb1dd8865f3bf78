"""Which rounds DF-FTPL keeps: all, the latest, or a uniform sample of bounded size."""

from typing import Literal

import numpy as np

from odfl_cli.core.arrays import Array
from odfl_cli.core.settings import PositiveInt, settings


@settings
class History:
    """A buffer of rounds and the rule by which round t (from 1) finds its slot."""

    keep: Literal["full", "window", "reservoir"] = "full"
    size: PositiveInt = 1000

    def capacity(self, rounds: int) -> int:
        """Slots a run of `rounds` needs; a reservoir has one more, where dropped rounds go."""
        if self.keep == "full":
            return rounds
        return self.size + (self.keep == "reservoir")

    def slots(self, t: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        """Slot of rounds t [B], [S, B]; `uniform` [S, B] decides what a reservoir keeps.

        The reservoir is Vitter's algorithm R: round t replaces a uniformly chosen earlier one
        with probability size/t, so that every round is equally likely to be held.
        """
        slots = np.empty(uniform.shape, dtype=np.int64)
        if self.keep == "full":
            slots[:] = t - 1
        elif self.keep == "window":
            slots[:] = (t - 1) % self.size
        else:
            drawn = np.minimum((uniform * t).astype(np.int64), self.size)
            slots[:] = np.where(t <= self.size, t - 1, drawn)
        return slots

    def held(self, t: Array) -> Array:
        """Rounds in the buffer after round t."""
        return t if self.keep == "full" else np.minimum(t, self.size)

    def stands_for(self, t: Array) -> Array:
        """Rounds that those in the buffer represent: a sample stands for all, a window for itself."""
        return self.held(t) if self.keep == "window" else t
