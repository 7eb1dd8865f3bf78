"""Which rounds DF-FTPL keeps: all, the latest, or a uniform sample of bounded size."""

from typing import Literal

import numpy as np

from odfl_cli.core.arrays import Array
from odfl_cli.core.settings import PositiveInt, settings


@settings
class History:
    """A buffer of rounds and the rule that assigns a slot to round t (from 1)."""

    keep: Literal["full", "window", "reservoir"] = "full"
    size: PositiveInt = 1000

    def capacity(self, rounds: int) -> int:
        """Slots that a run of `rounds` needs; a reservoir has one more for the rounds it drops."""
        if self.keep == "full":
            return rounds
        return self.size + (self.keep == "reservoir")

    def slots(self, t: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        """Slot of rounds t [B], [S, B]; a reservoir keeps a round by its draw in `uniform` [S, B].

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

    def represented(self, t: Array) -> Array:
        """Rounds that the buffer represents: a sample represents all so far, a window those in it."""
        return self.held(t) if self.keep == "window" else t
