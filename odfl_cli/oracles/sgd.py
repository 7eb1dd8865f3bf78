"""Projected stochastic gradient descent, the oracle of the paper's experiments."""

from typing import Literal

from odfl_cli.arrays import Array
from odfl_cli.ball import Ball
from odfl_cli.history import History
from odfl_cli.oracles.base import Objective
from odfl_cli.settings import Positive, PositiveInt, settings


@settings
class SGD:
    """θ ← Π_Θ(θ − lr ∇f(θ)), `steps` times.

    A sum of losses is sampled, `batch` terms a step, from the rounds that `history` keeps.
    """

    steps: PositiveInt = 10
    lr: Positive = 0.01
    batch: PositiveInt = 8
    history: Literal["full", "window", "reservoir"] = "full"
    history_size: PositiveInt = 1000
    every: PositiveInt = 1

    @property
    def sample_shape(self) -> tuple[int, ...]:
        """One uniform draw per step and term."""
        return (self.steps, self.batch)

    def answers(self, t: int) -> bool:
        """In rounds 1, 1 + every, 1 + 2·every, …"""
        return (t - 1) % self.every == 0

    @property
    def memory(self) -> History:
        """The rounds that a sum of losses is sampled from."""
        return History(keep=self.history, size=self.history_size)

    def minimise(
        self, objective: Objective, theta_set: Ball, start: Array, samples: Array | None
    ) -> Array:
        """`steps` projected gradient steps from `start`; samples is [S, steps, batch] or None."""
        theta = start
        for step in range(self.steps):
            sample = None if samples is None else samples[:, step]
            theta = theta_set.project(theta - self.lr * objective.gradient(theta, sample))
        return theta
