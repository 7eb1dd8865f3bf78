"""The contract of an oracle and of what it minimises, and what all oracles share."""

from typing import Literal, Protocol

from odfl_cli.core.arrays import Array
from odfl_cli.core.settings import PositiveInt, settings
from odfl_cli.problem.ball import Ball
from odfl_cli.problem.oracles.history import History


class Objective(Protocol):
    """A function of θ [..., S, m], separate for every seed; axes before S are candidates."""

    def value(self, theta: Array) -> Array:
        """Its value, [..., S]; of a sum of losses, over all the rounds that are kept."""

    def gradient(self, theta: Array, sample: Array | None) -> Array:
        """Its gradient, or an unbiased estimate that spends the uniform draws in `sample`."""


class Oracle(Protocol):
    """O_ξ: returns an approximate minimiser; knows no algorithm."""

    @property
    def sample_shape(self) -> tuple[int, ...]:
        """Uniform draws one call spends on sampling a sum of losses."""

    @property
    def restarts(self) -> int:
        """Random points of Θ that one call starts from beside the warm start."""

    @property
    def memory(self) -> History:
        """The rounds that a sum of losses is sampled from."""

    def answers(self, t: int) -> bool:
        """Whether the oracle is called in round t (from 1); a lazy one is called now and then."""

    def check(self, parameters: int) -> None:
        """Refuses, by a UserError, a θ of so many parameters that it cannot search."""

    def minimise(
        self,
        objective: Objective,
        theta_set: Ball,
        start: Array,
        samples: Array | None,
        points: Array | None = None,
    ) -> Array:
        """An approximate minimiser of `objective` over Θ, warm-started at `start`, [S, m].

        `points` [S, restarts, m] are random points of Θ.
        """


@settings
class LazyOracle:
    """What oracles share: when they answer and which rounds they remember.

    As it stands it samples nothing and starts at the warm start alone.
    """

    history: Literal["full", "window", "reservoir"] = "full"
    history_size: PositiveInt = 1000
    every: PositiveInt = 1

    @property
    def sample_shape(self) -> tuple[int, ...]:
        """No draws: a sum of losses is taken whole."""
        return (0,)

    @property
    def restarts(self) -> int:
        """None beside the warm start."""
        return 0

    @property
    def memory(self) -> History:
        """The rounds that a sum of losses is made of."""
        return History(keep=self.history, size=self.history_size)

    def answers(self, t: int) -> bool:
        """In rounds 1, 1 + every, 1 + 2·every, …"""
        return (t - 1) % self.every == 0

    def check(self, parameters: int) -> None:
        """Any number of parameters will do."""
