"""The contract of an environment."""

from typing import NamedTuple, Protocol

import numpy as np


class Rounds(NamedTuple):
    """A block of consecutive rounds for S seeds."""

    X: np.ndarray  # [S, B, d, p]
    costs: np.ndarray  # [S, B, d]


class Environment(Protocol):
    """Rounds by random access: (seed, round) and the configuration decide what a round holds."""

    @property
    def items(self) -> int:
        """d, the length of a cost vector."""

    @property
    def features(self) -> int:
        """p, the covariates of one item."""

    def rounds(self, seeds: tuple[int, ...], start: int, stop: int) -> Rounds:
        """Rounds start ≤ t < stop, counted from 0."""

    def theta_star(self, seeds: tuple[int, ...]) -> np.ndarray | None:
        """The parameter behind the costs, [S, p], where there is one; for clairvoyants only."""
