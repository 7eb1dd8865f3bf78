"""Drift of the parameter of the costs and of the mean of the covariates."""

import math
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from odfl_cli.core.arrays import unit
from odfl_cli.core.settings import Integer, NonNegative, Real, settings
from odfl_cli.core.streams import Draw, draw

STRIDE = 1024  # rounds between two checkpoints of a random walk; it defines the numbers


@settings
class Drifting:
    """θ*_t = (1 − drift_weight) μ_t + drift_weight ζ_t, ζ_t ~ N(0, I): ζ_t is noise, μ_t drifts.

    `paper`: μ_t = θ*. `none`: the same without ζ_t. `switching`: μ_t is a new independent draw every
    `drift_period` rounds. `periodic`: μ_t moves along a circle through θ* in `drift_period` rounds.
    `linear`: μ_t moves by `drift_rate` a round in a fixed random direction. `random_walk`: μ_t takes
    steps N(0, drift_rate² I). The mean of the covariates moves by `shift_rate` a round, in a fixed
    random direction. Every round is a function of the seed and t alone.
    """

    drift: Literal["paper", "none", "switching", "periodic", "linear", "random_walk"] = "paper"
    drift_weight: Annotated[Real, Field(ge=0, le=1)] = 0.0
    drift_rate: NonNegative = 0.01
    drift_period: Annotated[Integer, Field(ge=2)] = 1000
    shift_rate: NonNegative = 0.0
    by_rows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.drift == "periodic" and self.anchors((0,), 0, 1).shape[-1] < 2:
            raise ValueError(
                "data.drift=periodic turns θ* in a plane; data.features must be at least 2"
            )

    @property
    def stationary(self) -> bool:
        return self.drift in ("paper", "none") and self.shift_rate == 0.0

    @property
    def zeta_weight(self) -> float:
        """The weight of ζ_t."""
        return 0.0 if self.drift == "none" else self.drift_weight

    def switches(self, rounds: int) -> list[int]:
        """The rounds (from 1) up to `rounds` in which a new parameter starts."""
        if self.drift != "switching":
            return []
        return list(range(self.drift_period + 1, rounds + 1, self.drift_period))

    def anchors(self, seeds: tuple[int, ...], first: int, last: int) -> np.ndarray:
        """Independent draws of θ*, numbers first ≤ k < last, [S, last − first, p]; number 0 is θ*."""
        raise NotImplementedError

    def drifting_theta(self, seeds: tuple[int, ...], start: int, stop: int) -> np.ndarray:
        """θ*_t of rounds start ≤ t < stop, [S, B, p]."""
        mean = self.mean_theta(seeds, start, stop)
        zeta = draw(seeds, "data/drift", Draw("normal", mean.shape[-1:]), start, stop)
        zeta *= self.zeta_weight
        zeta += (1.0 - self.zeta_weight) * mean
        return zeta

    def mean_theta(self, seeds: tuple[int, ...], start: int, stop: int) -> np.ndarray:
        """μ_t of rounds start ≤ t < stop, [S, B, p]."""
        if self.drift == "switching":
            segment = np.arange(start, stop) // self.drift_period
            return self.anchors(seeds, segment[0], segment[-1] + 1)[:, segment - segment[0]]
        theta, t = self.anchors(seeds, 0, 1), np.arange(start, stop)[:, None]
        if self.drift in ("periodic", "linear"):
            way = draw(seeds, "data/direction", Draw("normal", theta.shape[-1:]))
        match self.drift:
            case "periodic":
                squared = (theta**2).sum(-1, keepdims=True)
                across = way - (way * theta).sum(-1, keepdims=True) / squared * theta
                angle = 2.0 * math.pi * (t % self.drift_period) / self.drift_period
                turned = np.sqrt(squared) * unit(across)  # orthogonal to θ* and of the same length
                return np.cos(angle) * theta + np.sin(angle) * turned
            case "linear":
                return theta + self.drift_rate * t * unit(way)
            case "random_walk":
                return theta + self.drift_rate * random_walk(seeds, theta.shape[-1], start, stop)
        return np.broadcast_to(theta, (len(seeds), stop - start, theta.shape[-1]))

    def shift(
        self, seeds: tuple[int, ...], shape: tuple[int, ...], start: int, stop: int
    ) -> np.ndarray:
        """The mean of the covariates [*shape] in rounds start ≤ t < stop, [S, B, *shape]."""
        t = np.arange(start, stop).reshape(-1, *(1 for _ in shape))
        return self.shift_rate * t * unit(draw(seeds, "data/shift", Draw("normal", shape)))


def random_walk(seeds: tuple[int, ...], p: int, start: int, stop: int) -> np.ndarray:
    """W_t = Σ_{s≤t} N(0, I_p), W_0 = 0, for start ≤ t < stop, [S, B, p].

    The checkpoints are a walk of long steps, joined by bridges of short steps: together they
    have the law of the plain walk, and round t costs t/STRIDE + STRIDE draws instead of t.
    """
    spec, first, last = Draw("normal", (p,)), start // STRIDE, (stop - 1) // STRIDE + 1
    long_steps = math.sqrt(STRIDE) * draw(seeds, "data/walk_checkpoint", spec, 0, last)
    checkpoint = _partial_sums(long_steps)
    walk = np.empty((len(seeds), (last - first) * STRIDE, p))
    share = np.arange(STRIDE)[:, None] / STRIDE
    for place, block in enumerate(range(first, last)):
        steps = draw(seeds, "data/walk", spec, block * STRIDE, (block + 1) * STRIDE)
        summed = _partial_sums(steps)
        bridge = summed[:, :-1] - share * summed[:, -1:]
        here, there = checkpoint[:, block, None], checkpoint[:, block + 1, None]
        walk[:, place * STRIDE : (place + 1) * STRIDE] = here + bridge + share * (there - here)
    return walk[:, start - first * STRIDE : stop - first * STRIDE]


def _partial_sums(steps: np.ndarray) -> np.ndarray:
    """0 and the partial sums over axis 1."""
    return np.cumsum(np.concatenate([np.zeros_like(steps[:, :1]), steps], axis=1), axis=1)
