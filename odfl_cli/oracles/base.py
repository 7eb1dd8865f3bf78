"""The contract of an oracle and of what it minimises."""

from typing import Protocol

from odfl_cli.arrays import Array
from odfl_cli.ball import Ball
from odfl_cli.history import History


class Objective(Protocol):
    """A function of θ [S, m], separate for every seed."""

    def gradient(self, theta: Array, sample: Array | None) -> Array:
        """Its gradient, or an unbiased estimate that spends the uniform draws in `sample`."""


class Oracle(Protocol):
    """O_ξ: returns an approximate minimiser; knows no algorithm."""

    @property
    def sample_shape(self) -> tuple[int, ...]:
        """Uniform draws one call spends on sampling a sum of losses."""

    @property
    def memory(self) -> History:
        """The rounds that a sum of losses is sampled from."""

    def answers(self, t: int) -> bool:
        """Whether the oracle is called in round t (from 1); a lazy one is called now and then."""

    def minimise(
        self, objective: Objective, theta_set: Ball, start: Array, samples: Array | None
    ) -> Array:
        """An approximate minimiser of `objective` over Θ, warm-started at `start`, [S, m]."""
