"""The contract of an oracle, its argument, and its buffer of rounds."""

from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from odfl_cli.core.arrays import Array, array_namespace
from odfl_cli.core.settings import PositiveInt, Real, settings
from odfl_cli.problem.ball import Ball


class OracleCall(NamedTuple):
    """The objective of an oracle in one round and its starting points.

    The objective is a function of θ [..., S, m], separate for every seed; axes before S are candidates.
    `value(theta)` is [..., S], for a sum of losses over all rounds in the buffer; `gradient(theta,
    sample)` may be an unbiased estimate that uses the uniform draws in `sample`.
    """

    objective: Any
    theta_set: Ball  # Θ
    start: Array  # the warm start, [S, m]
    samples: Array | None = None  # uniform draws, [S, *sample_shape]
    points: Array | None = None  # random points of Θ, [S, restarts, m]
    failed: Array | None = None  # the seeds whose call fails, [S]

    def gradient(self, theta: Array, step: int) -> Array:
        """The objective's gradient with the draws of that step, if there are any."""
        sample = None if self.samples is None else self.samples[:, step]
        return self.objective.gradient(theta, sample)


@settings
class Oracle:
    """O_ξ: returns an approximate minimiser; depends on no algorithm. A subclass states `minimise`.

    It is called every `every` rounds. A sum of losses is over the rounds in a buffer, which holds
    all rounds, the last `history_size`, or a uniform sample of that size. A call fails with
    probability `failure`: it then returns its start, at most 2R ‖σ‖_1 + the range of Σ f̃ above the minimum,
    where the paper's (ξ, χ)-oracle allows χ ‖σ‖_1 + ξ.
    """

    history: Literal["full", "window", "reservoir"] = "full"
    history_size: PositiveInt = 1000
    every: PositiveInt = 1
    failure: Annotated[Real, Field(ge=0, le=1)] = 0.0

    @property
    def sample_shape(self) -> tuple[int, ...]:
        """The shape of the uniform draws that sample a sum of losses in a call; none by default."""
        return (0,)

    @property
    def restarts(self) -> int:
        """The number of random starting points in Θ besides the warm start."""
        return 0

    def capacity(self, rounds: int) -> int:
        """The number of slots for `rounds` rounds; a reservoir has one more for the rounds it drops."""
        if self.history == "full":
            return rounds
        return self.history_size + (self.history == "reservoir")

    def slots(self, t: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        """The slots [S, B] of rounds t [B]; a reservoir uses the draws `uniform` [S, B].

        The reservoir is Vitter's algorithm R: round t replaces a uniformly chosen earlier one
        with probability size/t, so that every round is equally likely to be held.
        """
        slots = np.empty(uniform.shape, dtype=np.int64)
        if self.history == "full":
            slots[:] = t - 1
        elif self.history == "window":
            slots[:] = (t - 1) % self.history_size
        else:
            drawn = np.minimum((uniform * t).astype(np.int64), self.history_size)
            slots[:] = np.where(t <= self.history_size, t - 1, drawn)
        return slots

    def held(self, t: Array) -> Array:
        """The number of rounds in the buffer after round t."""
        return t if self.history == "full" else np.minimum(t, self.history_size)

    def represented(self, t: Array) -> Array:
        """The number of rounds that the buffer represents: all so far, except for a window."""
        return self.held(t) if self.history == "window" else t

    def answers(self, t: int) -> bool:
        """True in the rounds in which it is called: 1, 1 + every, 1 + 2·every, …"""
        return (t - 1) % self.every == 0

    def check(self, parameters: int) -> None:
        """Raises a UserError if θ has too many parameters for the oracle."""

    def answer(self, call: OracleCall) -> Array:
        """The result of a call, [S, m]: that of `minimise`, or the start if the call fails."""
        found, failed = self.minimise(call), call.failed
        if failed is None:
            return found
        return array_namespace(found).where(failed[:, None], call.start, found)

    def minimise(self, call: OracleCall) -> Array:
        """An approximate minimiser of `call.objective` over Θ, [S, m]."""
        raise NotImplementedError


def best_of(candidates: Array, values: Array) -> Array:
    """The first candidate of least value for every seed, [S, m], from [N, S, m] and values [N, S]."""
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
