"""The paper's synthetic data: sin⁴ costs over Toeplitz-correlated covariates (Section 4)."""

import math
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from odfl_cli.core.arrays import unit
from odfl_cli.core.settings import Integer, NonNegative, Positive, PositiveInt, Real, settings
from odfl_cli.core.streams import Draw, draw
from odfl_cli.environments.base import Rounds, fill_seeds
from odfl_cli.environments.drift import Drifting
from odfl_cli.environments.sin4_law import REVERSAL, CostLaw, expected_cost, mean_cost

USUAL = 4.0  # standard deviations within which nearly all signals lie
DEGREES = 3  # of freedom of Student's law: the fewest for which a variance exists


@settings
class Sin4(Drifting):
    """c_t = (1 − γ) X_tθ*_t + γ A sin⁴(1 / (2 X_tθ*_t)) + ε_t, with X_t = L·N(0,1)^{K×p}.

    L Lᵀ = Σ = (ρ^{|i−j|}) and θ*_t = (1 − drift_weight) θ* + drift_weight ζ_t, ζ_t ~ N(0, I_p).
    θ* is uniform in direction with norm `theta_star_norm` (√p when empty), one per seed; `Drifting`
    describes how it can move.

    Harder for learners of moments: `features_law` makes the covariates positive (|X|) or heavy-tailed
    (`student`: each row divided by √(χ²₃/3)), `condition` is the condition number of the features'
    covariance, and `link=reversing` replaces sin⁴ by s where |s| ≤ √2 ‖θ*‖ and −2s beyond.
    """

    items: Annotated[Integer, Field(ge=2)] = 5
    features: PositiveInt = 10
    rho: Annotated[Real, Field(gt=-1, lt=1)] = 0.8
    amplitude: NonNegative = 45.0
    gamma: Annotated[Real, Field(ge=0, le=1)] = 1.0
    noise_std: NonNegative = 1.0
    clip: bool = True
    drift_weight: Annotated[Real, Field(ge=0, le=1)] = 0.5
    theta_star_norm: Positive | None = None
    features_law: Literal["normal", "positive", "student"] = "normal"
    condition: Annotated[Real, Field(ge=1)] = 1.0
    link: Literal["sin4", "reversing"] = "sin4"

    def theta_star(self, seeds: tuple[int, ...], t: int = 0) -> np.ndarray:
        return self.mean_theta(seeds, t, t + 1)[:, 0]

    def anchors(self, seeds: tuple[int, ...], first: int, last: int) -> np.ndarray:
        direction = draw(seeds, "data/theta_star", Draw("normal", (self.features,)), first, last)
        return self._norm * direction / np.sqrt((direction**2).sum(-1, keepdims=True))

    def rounds(self, seeds: tuple[int, ...], start: int, stop: int) -> Rounds:
        return fill_seeds(self, seeds, start, stop, self._fill)

    def _fill(self, seeds: tuple[int, ...], start: int, stop: int, rounds: Rounds) -> None:
        """Writes the rounds of these seeds into `rounds`."""
        X = self._covariates(seeds, "data/covariates", start, stop, rounds.X)
        if self.shift_rate > 0:
            X += self.shift(seeds, X.shape[2:], start, stop)
        signal = np.einsum("sbkp,sbp->sbk", X, self.drifting_theta(seeds, start, stop))
        costs = mean_cost(self.cost_law(), signal)
        noise = draw(seeds, "data/noise", Draw("normal", (self.items,)), start, stop, rounds.costs)
        noise *= self.noise_std
        np.add(costs, noise, out=noise)
        if self.clip:
            np.clip(noise, 0.0, 1.0, out=noise)

    def fresh(self, seeds: tuple[int, ...], t: int, size: int) -> Rounds:
        """Samples with E[c_t | X_t]: the noise ε_t and the drift ζ_t are averaged out.

        If the covariates are symmetric, every second sample is the mirror image −X of the one before.
        """
        X = self._fresh_covariates(seeds, size)
        if self.shift_rate > 0:
            X += self.shift(seeds, X.shape[2:], t, t + 1)
        return Rounds(X, self._expect(X, self.mean_theta(seeds, t, t + 1)))

    def expected_costs(self, seeds: tuple[int, ...], start: int, X: np.ndarray) -> np.ndarray:
        return self._expect(X, self.mean_theta(seeds, start, start + X.shape[1]))

    def _expect(self, X: np.ndarray, mean_theta: np.ndarray) -> np.ndarray:
        """E[c | X], [S, B, K], for μ_t [S, B or 1, p]: given X_t, X_tθ*_t is Gaussian in every row."""
        weight = self.zeta_weight
        mean = (1.0 - weight) * np.einsum("sbkp,sbp->sbk", X, mean_theta)
        deviation = weight * np.sqrt(np.einsum("sbkp,sbkp->sbk", X, X))
        reach = max(1.0, USUAL * (1.0 - weight) * self._norm)
        widest = weight * (math.sqrt(self.features) + USUAL)
        return expected_cost(self.cost_law(), mean, deviation, reach, widest)

    def cost_law(self) -> CostLaw:
        """The law of a cost given its signal X_tθ*_t."""
        turn = REVERSAL * self._norm if self.link == "reversing" else None
        return CostLaw(self.gamma, self.amplitude, self.noise_std, self.clip, turn)

    @property
    def item_covariance(self) -> np.ndarray | None:
        """Σ [K, K] if the columns of X_t are independent N(0, Σ); None for another law."""
        if self.features_law != "normal" or self.condition > 1.0 or self.shift_rate > 0:
            return None
        distance = np.abs(np.subtract.outer(np.arange(self.items), np.arange(self.items)))
        return np.asarray(self.rho**distance)

    @property
    def _norm(self) -> float:
        return math.sqrt(self.features) if self.theta_star_norm is None else self.theta_star_norm

    def _fresh_covariates(self, seeds: tuple[int, ...], size: int) -> np.ndarray:
        """Covariates [S, size, K, p], every second one mirrored if that keeps the law."""
        if self.features_law == "positive":
            return self._covariates(seeds, "data/fresh_covariates", 0, size)
        half = self._covariates(seeds, "data/fresh_covariates", 0, -(-size // 2))
        X = np.empty((len(seeds), size, *half.shape[2:]))
        X[:, ::2] = half
        np.negative(half[:, : size // 2], out=X[:, 1::2])
        return X

    def _covariates(
        self, seeds: tuple[int, ...], name: str, start: int, stop: int, out: Any = None
    ) -> np.ndarray:
        """L·Z without L: the Cholesky factor of a Toeplitz ρ^{|i−j|} is a first-order recursion."""
        from odfl_cli.environments.sin4_kernel import correlate

        X = draw(seeds, name, Draw("normal", (self.items, self.features)), start, stop, out)
        for rows in X:
            correlate(rows, self.rho, math.sqrt(1.0 - self.rho**2))
        if self.features_law == "student":
            X /= student_scale(seeds, name, start, stop, self.items)
        if self.condition > 1.0:
            X[:] = set_condition(seeds, self.condition, X)
        return np.abs(X, out=X) if self.features_law == "positive" else X


def student_scale(
    seeds: tuple[int, ...], name: str, start: int, stop: int, items: int
) -> np.ndarray:
    """√(χ²₃/3), [S, B, K, 1]: normal rows divided by it have a multivariate t law."""
    normals = draw(seeds, f"{name}_scale", Draw("normal", (items, DEGREES)), start, stop)
    return np.sqrt((normals**2).mean(-1))[..., None]


def set_condition(seeds: tuple[int, ...], condition: float, X: np.ndarray) -> np.ndarray:
    """X [S, B, K, p] with a covariance of that condition number between the features.

    The variances are geometric with mean 1, along axes from a random reflection per seed, so that
    scaling single features does not undo it.
    """
    p = X.shape[-1]
    variances = condition ** (-np.arange(p) / max(1, p - 1))
    stretched = X * np.sqrt(variances / variances.mean())
    mirror = unit(draw(seeds, "data/reflection", Draw("normal", (p,))))[:, :, None, :]
    along = (stretched * mirror).sum(-1, keepdims=True)
    return stretched - 2.0 * along * mirror
