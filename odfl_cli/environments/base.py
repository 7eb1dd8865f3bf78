"""The contract of an environment."""

from typing import NamedTuple, Protocol, cast

import numpy as np


class Rounds(NamedTuple):
    """A block of consecutive rounds for S seeds."""

    X: np.ndarray  # [S, B, d, p]
    costs: np.ndarray  # [S, B, d]


class Environment(Protocol):
    """Rounds by random access: (seed, round) and the configuration decide what a round holds.

    An environment may offer more: `feature_names` [p]; `offers_all`, False if X has NaN as the
    features of items that cannot be played in a round; `target`, what learners learn from in place of
    the costs (odfl_cli.problem.targets).
    """

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


class KnownLaw(Protocol):
    """What an environment also offers if the law of its rounds is known; regret is then measured by it."""

    @property
    def stationary(self) -> bool:
        """Whether all rounds have the same law."""

    def fresh(self, seeds: tuple[int, ...], t: int, size: int) -> Rounds:
        """`size` samples of round t's law (t from 0), X [S, size, d, p] and costs [S, size, d].

        The costs are E[c | X], which has the mean of c and less noise. The draws behind the samples
        are the same for all t: only what moves in the law moves them. Samples 2n and 2n + 1 may
        depend on each other (a draw and its mirror image), but on no other.
        """

    def theta_star(self, seeds: tuple[int, ...], t: int = 0) -> np.ndarray | None:
        """The mean parameter behind the costs of round t, [S, p], where there is one."""


def known_law(environment: Environment) -> KnownLaw | None:
    """The environment as one whose law is known, or None."""
    return cast(KnownLaw, environment) if hasattr(environment, "fresh") else None


def switches_of(environment: Environment, rounds: int) -> list[int]:
    """The rounds (from 1) up to `rounds` in which the law changes at once, where the environment names them."""
    switches = getattr(environment, "switches", None)
    return switches(rounds) if switches else []
