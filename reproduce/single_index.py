"""Single-index costs over normal features, in which the cost of a linear rule depends on one angle.

Items have x ~ N(0, I_m) and c = φ(⟨x, θ*⟩) + noise. A rule that plays argmin ⟨x, u⟩ among K items has the
expected cost F(ρ) = E φ(ρA + √(1 − ρ²) ξ), where ρ is the cosine of u and θ*, A the least of K standard
normals and ξ one more: no sampling is needed to score it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss, hermeval
from scipy.stats import norm

from odfl_cli import Draw, Metric, Rounds, draw, settings
from odfl_cli.config.compose import compose_job
from odfl_cli.runs.build import build
from odfl_cli.runs.simulate import simulate

GRID = np.linspace(-9.0, 9.0, 181)
NODES, WEIGHTS = hermegauss(40)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


class Link(NamedTuple):
    """φ and its derivative."""

    at: Callable[[np.ndarray], np.ndarray]
    slope: Callable[[np.ndarray], np.ndarray]


def hermite(degree: int, sign: float) -> Link:
    """± He_k(s)/√k!, of variance 1: its first k − 1 Hermite coefficients vanish."""
    scale = sign / np.sqrt(float(np.prod(np.arange(1, degree + 1))))
    unit = np.eye(degree + 1) * scale
    return Link(
        lambda s: hermeval(s, unit[degree]), lambda s: degree * hermeval(s, unit[degree - 1])
    )


LINKS = {
    "slope": hermite(1, 1.0),
    "curvature": hermite(2, -1.0),
    "Hermite 3": hermite(3, 1.0),
    "Hermite 4": hermite(4, 1.0),
    "bump": Link(lambda s: np.exp(-(s**2)), lambda s: -2.0 * s * np.exp(-(s**2))),
}
"""The signs are chosen so that θ* costs less than chance among 20 items."""


@dataclass(frozen=True)
class SingleIndex:
    """c = φ(Xθ*) + noise: `normal` or `cauchy` noise, or 0 and 1 with mean φ (`bernoulli`).

    `spoilt` is `outlier`, a cost of 10⁶ more for one item of round 100, `round`, all costs of that round
    times 10⁶, or `shocks`, a normal number of deviation 10 for all items of a round.
    """

    items: int = 20
    features: int = 10
    link: str = "slope"
    noise: str = "normal"
    spoilt: str = ""
    target: str = "raw"

    def theta_star(self, seeds: tuple[int, ...]) -> np.ndarray:
        """Unit vectors, [S, m]."""
        normal = draw(seeds, "data/theta_star", Draw("normal", (self.features,)))[:, 0]
        return normal / np.linalg.norm(normal, axis=-1, keepdims=True)

    def rounds(self, seeds: tuple[int, ...], start: int, stop: int) -> Rounds:
        """X [S, B, K, m] and costs [S, B, K]."""
        X = draw(seeds, "data/x", Draw("normal", (self.items, self.features)), start, stop)
        means = LINKS[self.link].at(np.einsum("sbkm,sm->sbk", X, self.theta_star(seeds)))
        return Rounds(X, self._spoil(seeds, start, stop, self._noisy(seeds, start, stop, means)))

    def _noisy(
        self, seeds: tuple[int, ...], start: int, stop: int, means: np.ndarray
    ) -> np.ndarray:
        kind = "normal" if self.noise == "normal" else "uniform"
        noise = draw(seeds, "data/noise", Draw(kind, (self.items,)), start, stop)
        if self.noise == "bernoulli":
            return (noise < means).astype(float)
        return means + (np.tan(np.pi * (noise - 0.5)) if self.noise == "cauchy" else noise)

    def _spoil(
        self, seeds: tuple[int, ...], start: int, stop: int, costs: np.ndarray
    ) -> np.ndarray:
        if self.spoilt == "shocks":
            return costs + 10.0 * draw(seeds, "data/shock", Draw("normal", (1,)), start, stop)
        if start < 100 <= stop and self.spoilt == "outlier":
            costs[:, 99 - start, 0] += 1e6
        if start < 100 <= stop and self.spoilt == "round":
            costs[:, 99 - start] *= 1e6
        return costs

    def expected_cost(self, cosines: np.ndarray) -> np.ndarray:
        """F(ρ), elementwise."""
        A, weights = self._least
        signal = cosines[..., None, None] * A[:, None]
        signal = signal + np.sqrt(np.clip(1.0 - cosines**2, 0.0, None))[..., None, None] * NODES
        return weights @ LINKS[self.link].at(signal) @ WEIGHTS

    @cached_property
    def _least(self) -> tuple[np.ndarray, np.ndarray]:
        """Points and weights of the least of K normals."""
        density = norm.pdf(GRID) * norm.sf(GRID) ** (self.items - 1)
        keep = density > density.max() * 1e-10
        A, density = GRID[keep], density[keep]
        return A, density / density.sum()


@settings
class Cosine(Metric):
    """The cosine of θ_t and θ*."""

    theta_star: Any = None
    adds = ("cosine",)

    def examine(self, algorithm: Any, before: Any) -> dict[str, np.ndarray]:
        """[S]."""
        return {"cosine": cosine(np.asarray(before.state.theta), self.theta_star)}


def cosine(u: np.ndarray, theta_star: np.ndarray) -> np.ndarray:
    """The cosine of rows u and θ*, which has length 1; 0 if u is 0."""
    length = np.maximum(np.linalg.norm(u, axis=-1), 1e-300)
    return (u * theta_star).sum(-1) / length


def play(
    world: SingleIndex, seeds: tuple[int, ...], rounds: int, *overrides: str, rows: int = 200
) -> tuple[np.ndarray, np.ndarray]:
    """The logged rounds and the cosine in them, [S, rows]."""
    config = compose_job(
        (*overrides, f"horizon.rounds={rounds}", f"horizon.rows={rows}", f"seeds={list(seeds)}")
    )
    metric = Cosine(theta_star=world.theta_star(seeds))
    table = simulate(build(config, data=world, metrics=metric)).table
    return table["t"][0], table["cosine"]


def average(t: np.ndarray, values: np.ndarray, rounds: int) -> np.ndarray:
    """The mean over the first rounds, from the values in the logged ones, [S]."""
    every = np.arange(1, rounds + 1)
    return np.array([np.interp(every, t, row).mean() for row in values])
