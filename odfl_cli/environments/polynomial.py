"""The polynomial benchmark of predict-then-optimise, played online.

Elmachtoub & Grigas, *Smart "Predict, then Optimize"*, Management Science 68(1), 2022, Section 6;
the family was made popular by Tang & Khalil, *PyEPO*, Mathematical Programming Computation 16, 2024.
"""

import math
from typing import Annotated

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from pydantic import AliasChoices, Field

from odfl_cli.core.arrays import dot
from odfl_cli.core.settings import Integer, PositiveInt, Real, settings
from odfl_cli.core.streams import Draw, draw
from odfl_cli.environments.base import Rounds, fill_seeds
from odfl_cli.environments.drift import Drifting

SHIFT, SCALE = 3.0, 3.5
# The key is `features`, as in all data; the attribute of that name counts the intercept as well.
P_KEY = Field(validation_alias=AliasChoices("features", "covariates"))


@settings
class Polynomial(Drifting):
    """value_t = ((s_t + 3)^degree + 1) / 3.5^degree · ε_t with s_t = X_tθ*_t; c_t = ± value_t.

    Row j of X_t is B_j ∘ x_t / √p with x_t ~ N(0, I_p) and B ∈ {0, 1}^{d×p} fair coins, drawn once
    per seed; `intercept` appends a column of ones. ε ~ U[1 − noise_width, 1 + noise_width].
    θ*_t = (1 − drift_weight) θ* + drift_weight ζ_t, ζ_t ~ N(0, I_p). θ* is the vector of ones, which
    is the published generator, or a vector of fair signs, which has the same law because x_t is
    symmetric, but favours no algorithm that tends to positive parameters (as DF-FTPL does).
    `Drifting` describes how θ* can move; the successors of θ* are fair signs.
    Degree 1 is affine in X_t; the higher the degree, the more wrong is a linear predictor.
    """

    items: Annotated[Integer, Field(ge=2)] = 40
    covariates: Annotated[PositiveInt, P_KEY] = 5  # p
    degree: Annotated[Integer, Field(ge=1, le=100)] = 4
    noise_width: Annotated[Real, Field(ge=0, lt=1)] = 0.5
    intercept: bool = True
    maximise: bool = False
    random_signs: bool = False

    @property
    def features(self) -> int:
        """The columns of X_t: p, and one for the intercept."""
        return self.covariates + self.intercept

    def theta_star(self, seeds: tuple[int, ...], t: int = 0) -> np.ndarray:
        """± ((1 − drift_weight) θ*, (3^degree + 1) / (degree 3^{degree−1})), [S, features].

        This is the tangent of the mean cost at s = 0, but for a positive factor. At degree 1 it
        predicts 3.5 E[c_t | X_t]: no other parameter decides better.
        """
        tangent = np.empty((len(seeds), self.features))
        mean = self.mean_theta(seeds, t, t + 1)[:, 0]
        tangent[:, : self.covariates] = (1.0 - self.zeta_weight) * mean
        tangent[:, self.covariates :] = (SHIFT + SHIFT ** (1 - self.degree)) / self.degree
        return self._sign * tangent

    def rounds(self, seeds: tuple[int, ...], start: int, stop: int) -> Rounds:
        return fill_seeds(self, seeds, start, stop, self._fill)

    def _fill(self, seeds: tuple[int, ...], start: int, stop: int, rounds: Rounds) -> None:
        """Writes the rounds of these seeds into `rounds`."""
        x = draw(seeds, "data/covariates", Draw("normal", (self.covariates,)), start, stop)
        if self.shift_rate > 0:
            x += self.shift(seeds, (self.covariates,), start, stop)
        X = self._features(seeds, x, rounds.X)
        theta = self.drifting_theta(seeds, start, stop)
        costs = self._mean_value(dot(X[..., : self.covariates], theta[:, :, None, :]))
        uniform = draw(seeds, "data/noise", Draw("uniform", (self.items,)), start, stop)
        factor = self._sign * (1.0 + self.noise_width * (2.0 * uniform - 1.0))
        np.multiply(costs, factor, out=rounds.costs)

    def fresh(self, seeds: tuple[int, ...], t: int, size: int) -> Rounds:
        """Samples with E[c_t | X_t]: the noise ε and the drift ζ are averaged out."""
        x = draw(seeds, "data/fresh_covariates", Draw("normal", (self.covariates,)), 0, size)
        if self.shift_rate > 0:
            x += self.shift(seeds, (self.covariates,), t, t + 1)
        X = self._features(seeds, x)
        return Rounds(X, self._expect(X, self.mean_theta(seeds, t, t + 1)))

    def expected_costs(self, seeds: tuple[int, ...], start: int, X: np.ndarray) -> np.ndarray:
        return self._expect(X, self.mean_theta(seeds, start, start + X.shape[1]))

    def _expect(self, X: np.ndarray, mean_theta: np.ndarray) -> np.ndarray:
        """E[c | X], [S, B, d], where μ_t is [S, B or 1, p].

        Given X_t, s_t is Gaussian around X_t (1 − drift_weight) μ_t with deviation drift_weight ‖x‖ per
        row; Gauss-Hermite quadrature with more nodes than half the degree is exact for a polynomial.
        """
        rows = X[..., : self.covariates]
        mean = dot(rows, (1.0 - self.zeta_weight) * mean_theta[:, :, None, :])
        deviation = self.zeta_weight * np.sqrt(dot(rows, rows))
        nodes, weights = hermegauss(self.degree // 2 + 1)
        costs = np.zeros_like(mean)
        for node, weight in zip(nodes, weights / weights.sum(), strict=True):
            costs += weight * self._mean_value(mean + node * deviation)
        return self._sign * costs

    @property
    def _sign(self) -> float:
        return -1.0 if self.maximise else 1.0

    def anchors(self, seeds: tuple[int, ...], first: int, last: int) -> np.ndarray:
        coins = draw(seeds, "data/theta_star", Draw("uniform", (self.covariates,)), first, last)
        signs = np.where(coins < 0.5, -1.0, 1.0)
        if first == 0 and not self.random_signs:
            signs[:, 0] = 1.0
        return signs

    def _features(
        self, seeds: tuple[int, ...], x: np.ndarray, out: np.ndarray | None = None
    ) -> np.ndarray:
        """B_j ∘ x_t / √p for every item j, and a last column of ones for the intercept."""
        p = self.covariates
        coins = draw(seeds, "data/pattern", Draw("uniform", (self.items, p)))
        x = x / math.sqrt(p)
        X = np.empty((*x.shape[:2], self.items, self.features)) if out is None else out
        np.multiply(coins < 0.5, x[:, :, None, :], out=X[..., :p])
        X[..., p:] = 1.0
        return X

    def _mean_value(self, signal: np.ndarray) -> np.ndarray:
        """((s + 3) / 3.5)^degree + 3.5^{−degree}, by products, as the last digits of pow vary."""
        base = (signal + SHIFT) / SCALE
        value = base.copy()
        for _ in range(self.degree - 1):
            value *= base
        return value + SCALE**-self.degree
