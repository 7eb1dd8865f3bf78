"""The contract of an oracle, what it is called with, and what all oracles share."""

from typing import Any, Literal, NamedTuple, Protocol

from odfl_cli.core.arrays import Array, array_namespace
from odfl_cli.core.settings import PositiveInt, settings
from odfl_cli.problem.ball import Ball
from odfl_cli.problem.oracles.history import History


class Objective(Protocol):
    """A function of θ [..., S, m], separate for every seed; axes before S are candidates."""

    def value(self, theta: Array) -> Array:
        """Its value, [..., S]; of a sum of losses, over all the rounds that are kept."""

    def gradient(self, theta: Array, sample: Array | None) -> Array:
        """Its gradient, or an unbiased estimate that uses the uniform draws in `sample`."""


class OracleCall(NamedTuple):
    """What an oracle minimises in one round, and where it starts."""

    objective: Any  # an Objective
    theta_set: Ball  # Θ
    start: Array  # the warm start, [S, m]
    samples: Array | None = None  # uniform draws, [S, *sample_shape]
    points: Array | None = None  # random points of Θ, [S, restarts, m]

    def gradient(self, theta: Array, step: int) -> Array:
        """The objective's gradient with the draws of that step, if there are any."""
        sample = None if self.samples is None else self.samples[:, step]
        return self.objective.gradient(theta, sample)


@settings
class Oracle:
    """O_ξ: returns an approximate minimiser; depends on no algorithm. A subclass states `minimise`.

    It is called every `every` rounds; `history` and `history_size` say which rounds a sum of losses
    is made of.
    """

    history: Literal["full", "window", "reservoir"] = "full"
    history_size: PositiveInt = 1000
    every: PositiveInt = 1

    @property
    def sample_shape(self) -> tuple[int, ...]:
        """The shape of the uniform draws by which a call samples a sum of losses; none by default."""
        return (0,)

    @property
    def restarts(self) -> int:
        """The number of random points of Θ that a call starts from beside the warm start."""
        return 0

    @property
    def memory(self) -> History:
        """The rounds that a sum of losses is made of."""
        return History(keep=self.history, size=self.history_size)

    def answers(self, t: int) -> bool:
        """Whether it is called in round t: in rounds 1, 1 + every, 1 + 2·every, …"""
        return (t - 1) % self.every == 0

    def check(self, parameters: int) -> None:
        """Raises a UserError if θ has more parameters than it can search."""

    def minimise(self, call: OracleCall) -> Array:
        """An approximate minimiser of `call.objective` over Θ, [S, m]."""
        raise NotImplementedError


def best_of(candidates: Array, values: Array) -> Array:
    """Of candidates [N, S, m] with values [N, S] every seed's lowest, [S, m]; the first of equals."""
    xp = array_namespace(values)
    best = xp.argmin(values, axis=0)
    return candidates[best, xp.arange(best.shape[0], device=best.device)]


def uniform_in_ball(normals: Array, radius: float) -> Array:
    """Points uniform in the ball of R^m from standard normal draws [..., m + 2].

    The first m coordinates of a point uniform on the sphere of R^{m+2} are uniform in the ball.
    """
    xp = array_namespace(normals)
    norm = xp.sqrt((normals**2).sum(-1))[..., None]
    return radius * normals[..., :-2] / norm
