"""Smoothing by noise, for every set: the mean of the decisions for perturbed predictions."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, SkipValidation

from odfl_cli.core.arrays import Array, array_namespace, dot
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import Integer, settings
from odfl_cli.core.streams import Draw, draw
from odfl_cli.problem.polytopes.linear import DecisionSet

WIDTH_SAMPLES = 64
"""The number of draws for the width of W."""
LEAST, MOST = 2.0**-60, 1.0 - 2.0**-53
"""Bounds of uniform draws, so that their logarithms are finite."""


@settings
class Perturbed:
    """w̃_α(g) = E[w*(g + αN)], estimated by `samples` draws of N in antithetic pairs; W needs a solver alone.

    N has independent entries of mean 0: `normal`, with −N as the second of a pair, or `gumbel`, N = γ − G
    for standard Gumbel G from uniform draws u and 1 − u; with it w̃ is the softmax on the simplex.

    The estimate of w̃ is unbiased. So is that of (∂w̃/∂g)ᵀ v = E[⟨v, w*(g + αN)⟩ s(N)]/α, with s the
    score −∇ ln density: N if normal. Subtracted from each ⟨v, w*⟩ is the mean over the other pairs,
    which has the expectation 0 under s and takes away what all decisions have in common. With D the
    range of ⟨v, w⟩ over W, the variance of a coordinate is at most D²/(2α²·samples) if normal: halving α
    takes four times the draws. A seed's draws are its own, new in every round, and the same for all that a
    learner evaluates in the round.

    Berthet, Blondel, Teboul, Cuturi, Vert & Bach, *Learning with Differentiable Perturbed Optimizers*,
    NeurIPS 2020.
    """

    polytope: SkipValidation[DecisionSet]
    samples: Annotated[Integer, Field(ge=2, multiple_of=2)] = 8
    noise: Literal["normal", "gumbel"] = "normal"
    in_paper = False

    def __post_init__(self) -> None:
        if self.noise == "gumbel" and self.samples < 4:
            raise ValueError("regularizer.samples=2: the noise gumbel needs 4 at least")

    @property
    def draw(self) -> Draw:
        """The draws of a round: one of each pair."""
        return self._draws(self.samples)

    def with_draws(self, draws: Array) -> "DrawnNoise":
        """The regulariser of a round with its draws [..., samples / 2, d]; leading axes broadcast."""
        xp = array_namespace(draws)
        if self.noise == "normal":
            noise = xp.stack([draws, -draws], axis=-3)
            return DrawnNoise(self, noise, noise)
        uniform = xp.clip(draws, LEAST, MOST)
        gumbel = -xp.log(-xp.log(xp.stack([uniform, 1.0 - uniform], axis=-3)))
        return DrawnNoise(self, np.euler_gamma - gumbel, xp.exp(-gumbel) - 1.0)

    @cached_property
    def suboptimality(self) -> float:
        """n = E max_{w∈W} ⟨−N, w⟩, the width of W, from fixed draws: ⟨g, w̃⟩ ≤ min ⟨g, w⟩ + n·α.

        E min_w ⟨g + αN, w⟩ is at most min_w ⟨g, w⟩, as N has mean 0. Gumbel on the simplex: ln d.
        """
        spec = self._draws(WIDTH_SAMPLES)
        noise = self.with_draws(draw((0,), "perturbed/width", spec)[0, 0]).noise
        width = -float(dot(noise, self.polytope.minimise(noise)).mean())
        return max(width, math.ulp(1.0))  # a single point has none

    def smooth(self, g: Array, alpha: Array) -> Array:
        raise UserError(
            "regularizer=perturbed: the algorithm does not hand on its draws; declare smoothing_draws "
            "and use drawn_problem, see docs/your-solver.md"
        )

    def vjp(self, w: Array, alpha: Array, v: Array) -> Array:
        return self.smooth(w, alpha)

    def _draws(self, samples: int) -> Draw:
        kind: Literal["normal", "uniform"] = "normal" if self.noise == "normal" else "uniform"
        return Draw(kind, (samples // 2, self.polytope.dimension))


@dataclass(frozen=True)
class DrawnNoise:
    """The regulariser with the draws of a round."""

    regularizer: Perturbed
    noise: Array  # [..., 2, pairs, d]
    score: Array  # as the noise

    @property
    def suboptimality(self) -> float:
        return self.regularizer.suboptimality

    def smooth(self, g: Array, alpha: Array) -> Array:
        return self._decisions(g, alpha).mean((-3, -2))

    def pull_back(self, g: Array, alpha: Array, v: Array) -> Array:
        """The estimate of (∂w̃/∂g)ᵀ v, [..., d]."""
        if self.regularizer.polytope.constant_sum:
            v = v - v[..., :1]  # equal costs then give exactly zero
        paid = dot(self._decisions(g, alpha), v[..., None, None, :])  # [..., 2, pairs]
        both, pairs = paid.sum(-2), paid.shape[-1]
        others = (both.sum(-1)[..., None] - both) / (2.0 * max(1, pairs - 1))
        excess = (paid - others[..., None, :])[..., None]
        products = (excess * self.score).sum(-3)  # a pair first: what is equal in it cancels
        return products.sum(-2) / (2.0 * pairs) / alpha

    def _decisions(self, g: Array, alpha: Array) -> Array:
        """w*(g + αN), [..., 2, pairs, d]."""
        scale = alpha if isinstance(alpha, float) else alpha[..., None, None]
        return self.regularizer.polytope.minimise(g[..., None, None, :] + scale * self.noise)
