"""What the oracles share that walk down stochastic gradients."""

from odfl_cli.core.arrays import Array
from odfl_cli.core.settings import Positive, PositiveInt, settings
from odfl_cli.problem.oracles.base import LazyOracle


@settings
class Descent(LazyOracle):
    """`steps` steps of scale `lr`; a sum of losses is sampled, `batch` terms a step."""

    steps: PositiveInt = 10
    lr: Positive = 0.01
    batch: PositiveInt = 8

    @property
    def sample_shape(self) -> tuple[int, ...]:
        """One uniform draw per step and term."""
        return (self.steps, self.batch)


def sample_of(samples: Array | None, step: int) -> Array | None:
    """The draws [S, batch] of one step out of [S, steps, batch], if there are any."""
    return None if samples is None else samples[:, step]
