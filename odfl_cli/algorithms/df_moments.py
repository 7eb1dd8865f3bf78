"""DF-Moments: decisions from the first and second moments of features weighted by costs.

All costs of a round are seen, not only those that are paid. For costs c = φ(⟨x, θ*⟩) + noise the
first moment E[c x] points along θ* when φ has a slope (least squares), and the second moment
E[(c − c̄) x xᵀ] has θ* as its lowest eigenvector when φ is high in the middle (Stein, *Estimation
of the Mean of a Multivariate Normal Distribution*, Annals of Statistics 9(6), 1981; Li, *On Principal
Hessian Directions*, JASA 87(420), 1992). docs/df-moments.md derives every line.

The box, for decisions argmin_w ⟨Dθ, w⟩ with D [d, m] the predictor's design of the round:

    1  play w = argmin ⟨Dθ, w⟩
    2  centre: if Σw is constant on W, subtract from D and c their means over all rounds,
       and leave out columns that have been constant within every round
    3  statistics: r = c − Db, less its mean; z = Dᵀc, Z = Dᵀ diag(r) D
    4  which memory: ω_j ∝ ω_j exp(−½ Σ_A n_A ‖A_t/d − f_j A_j/N_j‖² / mean‖A_t/d‖²), A = m and M;
       then fixed share 1/t
    5  remember: (S, m, M, N)_j ← γ_j (S, m, M, N)_j + (DᵀD, z, Z, d), Q_j ← γ_j² Q_j + ‖A_t‖²
    6  shrink: f_j = (1 − (1 + s √(2/n_A)) Q_j / ‖A_j‖²)₊ for each A; for m at least 1/N_j
    7  combine: b = (Σ ω S_j)⁻¹ Σ ω f_j m_j, B = Σ⁻¹ Σ ω f_j M_j / Σ ω N_j
    8  direction: sign u so that uᵀΣb ≥ 0; twice u ← normalise(b + √tr(B²) u − Bu)
    9  refine: h = t^(−1/4) sd(g)/sd(c), q = Dᵀ(w(g + hc) − w(g − hc)), G ← G + q, Q_G ← Q_G + ‖q‖²
   10  θ = normalise(u − f_G Σ⁻¹G/√Q_G), f_G by line 6

Σ = S_∞/N_∞ is the metric of all norms, ‖m‖² = mᵀΣ⁻¹m and ‖M‖² = tr(Σ⁻¹MΣ⁻¹M), so nothing depends on
the units of features or costs. Before a matrix S is inverted, (m/N) diag(S) is added to it.
n_A counts the coordinates: m for the first moment, m(m + 1)/2 for the second.
"""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from odfl_cli.algorithms.base import Algorithm, design_of
from odfl_cli.core.arrays import Array, array_namespace, dot
from odfl_cli.core.matrices import (
    inverted,
    mean,
    product,
    solved,
    times,
    trace_of_square,
    variance,
    weighted_gram,
    weighted_sum,
)
from odfl_cli.core.settings import NonNegative, PositiveInt, settings

POWER_STEPS = 2
"""Steps of line 8 in a round; u moves little between rounds, so more change nothing."""

WIDTH_EXPONENT = -0.25
"""How h of line 9 shrinks with t: a little faster than the t^(−1/5) that balances a difference
quotient's bias h² with its variance 1/(th), so that what is summed up is noise, not bias."""

TINY = 1e-300
"""Stands in for a zero that divides a zero."""


class DFMomentsState(NamedTuple):
    """θ_{t+1} and the sums behind it; J memories, the first of which forgets nothing."""

    t: int
    theta: Array  # Π_Θ(v), which decides as v does, [S, m]
    v: Array  # θ of line 10, [S, m]
    column_mean: Array  # of D over all rounds, [S, m]
    cost_mean: Array  # [S]
    varied: Array  # 1 where a column has differed between the items of a round, [S, m]
    gram: Array  # S_j, [S, J, m, m]
    first: Array  # m_j, [S, J, m]
    second: Array  # M_j, [S, J, m, m]
    counts: Array  # N_j, [S, J]
    noise: Array  # Q_j of m and of M, [S, J, 2]
    kept: Array  # f_j of m and of M, [S, J, 2]
    omega: Array  # ω_j, [S, J]
    b: Array  # [S, m]
    u: Array  # [S, m]
    pull: Array  # G, [S, m]
    pull_noise: Array  # Q_G, [S]
    spread: Array  # Σ_t var(g) and Σ_t var(c), [S, 2]


class Statistics(NamedTuple):
    """What line 3 takes from a round, and the metric."""

    D: Array  # centred design, [S, d, m]
    gram: Array  # DᵀD, [S, m, m]
    z: Array  # [S, m]
    Z: Array  # [S, m, m]
    sigma: Array  # Σ, [S, m, m]
    inverse: Array  # Σ⁻¹, [S, m, m]
    squares: Array  # ‖z‖² and ‖Z‖², [S, 2]


@settings
class DFMoments(Algorithm):
    """DF-Moments; nothing is to be set per problem.

    `memories` are the rounds τ that the fading memories remember (γ = 1 − 1/τ), beside one that
    forgets nothing. `standard_errors` is s of line 6. `curvature` and `refine` switch the second
    moment (M = 0) and lines 9 and 10 (θ = u) off: for ablations.
    """

    memories: tuple[PositiveInt, ...] = (256, 32)
    standard_errors: NonNegative = 2.0
    curvature: bool = True
    refine: bool = True
    name = "df_moments"
    kernel = "df_moments"

    def __post_init__(self) -> None:
        design_of(self.problem, self.name)

    @cached_property
    def design(self) -> Callable[[Array], Array]:
        """D as a function of X."""
        return design_of(self.problem, self.name)

    @property
    def fading(self) -> np.ndarray:
        """γ_j, [J]; γ_∞ = 1 is the first."""
        return 1.0 - np.array([0.0, *(1.0 / tau for tau in self.memories)])

    @property
    def sizes(self) -> np.ndarray:
        """n_A of m and of M, [2]."""
        m = self.problem.parameters
        return np.array([m, m * (m + 1) / 2])

    @property
    def errors(self) -> np.ndarray:
        """1 + s √(2/n_A), [2]: Q/‖A‖² has mean 1 and deviation √(2/n_A) where A is noise."""
        return 1.0 + self.standard_errors * np.sqrt(2.0 / self.sizes)

    def init(self, seeds: int, truth: np.ndarray | None) -> DFMomentsState:
        """θ_1 = 0, all sums zero, memories weighted alike."""
        m, J = self.problem.parameters, len(self.fading)
        shapes: dict[str, tuple[int, ...]] = {
            **dict.fromkeys(("theta", "v", "column_mean", "varied", "b", "u", "pull"), (m,)),
            **dict.fromkeys(("cost_mean", "pull_noise"), ()),
            **dict.fromkeys(("gram", "second"), (J, m, m)),
            **dict.fromkeys(("noise", "kept"), (J, 2)),
            "first": (J, m),
            "counts": (J,),
            "spread": (2,),
        }
        sums = {name: np.zeros((seeds, *shape)) for name, shape in shapes.items()}
        return DFMomentsState(t=0, omega=np.full((seeds, J), 1.0 / J), **sums)

    def update(
        self, state: DFMomentsState, X: Array, costs: Array, draws: dict[str, Array]
    ) -> DFMomentsState:
        """Lines 2 to 10."""
        t, D = state.t + 1, self.design(X)
        spread, push = self._perturbed(state, t, D, costs)  # 9, with D and c as they came
        state, D, costs = self._centred(state, t, D, costs)  # 2
        seen = self._statistics(state, D, costs)  # 3
        omega = self._which_memory(state, t, seen)  # 4
        state = self._remembered(state, seen)  # 5
        kept = self._kept(state, seen)  # 6
        b, B = self._combined(state, omega, kept, seen)  # 7
        u = self._direction(state.u, b, B, seen)  # 8
        q = weighted_sum(seen.D, push)
        pull, pull_noise = state.pull + q, state.pull_noise + square(seen.inverse, q)  # 9
        v = self._refined(u, pull, pull_noise, seen)  # 10
        return state._replace(
            t=t,
            theta=self.problem.theta_set.project(v),
            v=v,
            kept=kept,
            omega=omega,
            b=b,
            u=u,
            pull=pull,
            pull_noise=pull_noise,
            spread=spread,
        )

    def _perturbed(
        self, state: DFMomentsState, t: int, D: Array, costs: Array
    ) -> tuple[Array, Array]:
        """Line 9: the spreads of g and c so far, and w(g + hc) − w(g − hc), [S, d]."""
        xp, minimise = array_namespace(D), self.problem.polytope.minimise
        g = dot(D, state.v[..., None, :])
        spread = state.spread + xp.stack([variance(g), variance(costs)], axis=-1)
        h = t**WIDTH_EXPONENT * xp.sqrt(spread[..., 0] / xp.clip(spread[..., 1], min=TINY))
        step = h[..., None] * costs
        return spread, minimise(g + step) - minimise(g - step)

    def _centred(
        self, state: DFMomentsState, t: int, D: Array, costs: Array
    ) -> tuple[DFMomentsState, Array, Array]:
        """Line 2."""
        if not self.problem.polytope.constant_sum:
            return state, D, costs
        xp = array_namespace(D)
        varied = xp.astype(xp.max(xp.abs(D - D[..., :1, :]), axis=-2) > 0, D.dtype)
        varied = xp.maximum(state.varied, varied)
        column_mean = state.column_mean + (mean(D, -2) - state.column_mean) / t
        cost_mean = state.cost_mean + (mean(costs, -1) - state.cost_mean) / t
        centred = (D - column_mean[..., None, :]) * varied[..., None, :]
        state = state._replace(column_mean=column_mean, cost_mean=cost_mean, varied=varied)
        return state, centred, costs - cost_mean[..., None]

    def _statistics(self, state: DFMomentsState, D: Array, costs: Array) -> Statistics:
        """Line 3, and the metric with this round in it."""
        r = costs - dot(D, state.b[..., None, :])
        r = (r - mean(r, -1)[..., None]) * float(self.curvature)
        gram, z = weighted_gram(D, 1.0 + 0.0 * r), weighted_sum(D, costs)
        Z = weighted_gram(D, r)
        N = state.counts[..., 0] + D.shape[-2]
        sigma = (state.gram[..., 0, :, :] + gram) / N[..., None, None]
        inverse = inverted(with_ridge(sigma, N))
        return Statistics(D, gram, z, Z, sigma, inverse, squares(inverse, z, Z))

    def _which_memory(self, state: DFMomentsState, t: int, seen: Statistics) -> Array:
        """Line 4: how well each memory predicted z and Z, [S, J]; in round 1 none did."""
        xp, d = array_namespace(seen.z), seen.D.shape[-2]
        if t == 1:
            return state.omega
        told = state.kept / state.counts[..., None]
        missed_z = seen.z[..., None, :] / d - told[..., 0, None] * state.first
        missed_Z = seen.Z[..., None, :, :] / d - told[..., 1, None, None] * state.second
        missed = squares(seen.inverse[..., None, :, :], missed_z, missed_Z)
        usual = (state.noise[..., 0, :] + seen.squares) / (t * d * d)
        scale = xp.asarray(self.sizes, dtype=usual.dtype, device=usual.device)
        score = -0.5 * dot(missed, (scale / xp.clip(usual, min=TINY))[..., None, :])
        weight = state.omega * xp.exp(score - xp.max(score, axis=-1)[..., None])
        share = 1.0 / t
        return (1.0 - share) * weight / weight.sum(-1)[..., None] + share / weight.shape[-1]

    def _remembered(self, state: DFMomentsState, seen: Statistics) -> DFMomentsState:
        """Line 5."""
        xp = array_namespace(seen.z)
        gamma = xp.asarray(self.fading, dtype=seen.z.dtype, device=seen.z.device)
        column, matrix = gamma[:, None], gamma[:, None, None]
        return state._replace(
            gram=matrix * state.gram + seen.gram[..., None, :, :],
            first=column * state.first + seen.z[..., None, :],
            second=matrix * state.second + seen.Z[..., None, :, :],
            counts=gamma * state.counts + seen.D.shape[-2],
            noise=column**2 * state.noise + seen.squares[..., None, :],
        )

    def _kept(self, state: DFMomentsState, seen: Statistics) -> Array:
        """Line 6, [S, J, 2]."""
        xp = array_namespace(seen.z)
        size = squares(seen.inverse[..., None, :, :], state.first, state.second)
        errors = xp.asarray(self.errors, dtype=size.dtype, device=size.device)
        kept = signal_share(errors * state.noise, size)
        least = xp.stack([1.0 / state.counts, 0.0 * state.counts], axis=-1)
        return xp.maximum(kept, least)

    def _combined(
        self, state: DFMomentsState, omega: Array, kept: Array, seen: Statistics
    ) -> tuple[Array, Array]:
        """Line 7: b [S, m] and B [S, m, m]."""
        weight = omega[..., None] * kept
        N = (omega * state.counts).sum(-1)
        gram = (omega[..., None, None] * state.gram).sum(-3)
        first = (weight[..., 0, None] * state.first).sum(-2)
        second = (weight[..., 1, None, None] * state.second).sum(-3) / N[..., None, None]
        return solved(with_ridge(gram, N), first), product(seen.inverse, second)

    def _direction(self, u: Array, b: Array, B: Array, seen: Statistics) -> Array:
        """Line 8: ascends ⟨b, u⟩ − ½ uᵀMu on the unit sphere of the metric, from the last u."""
        xp = array_namespace(u)
        along = dot(u, times(seen.sigma, b))
        u = xp.where(along < 0, -1.0, 1.0)[..., None] * u
        radius = xp.sqrt(xp.clip(trace_of_square(B), min=0.0))[..., None]
        for _ in range(POWER_STEPS):
            u = normalised(seen.sigma, b + radius * u - times(B, u))
        return u

    def _refined(self, u: Array, pull: Array, pull_noise: Array, seen: Statistics) -> Array:
        """Line 10."""
        if not self.refine:
            return u
        xp = array_namespace(u)
        kept = signal_share(float(self.errors[0]) * pull_noise, square(seen.inverse, pull))
        length = kept / xp.sqrt(xp.clip(pull_noise, min=TINY))
        return normalised(seen.sigma, u - length[..., None] * times(seen.inverse, pull))


def signal_share(noise: Array, size: Array) -> Array:
    """(1 − noise/size)₊: the share of a squared norm that noise does not explain."""
    xp = array_namespace(size)
    return xp.clip((size - noise) / xp.clip(size, min=TINY), min=0.0)


def with_ridge(S: Array, N: Array) -> Array:
    """S + (m/N) diag(S), as though m items more had been seen; 1 where a column is zero so far."""
    xp, m = array_namespace(S), S.shape[-1]
    unit = xp.eye(m, dtype=S.dtype, device=S.device)
    diagonal = (S * unit).sum(-1)
    added = xp.where(diagonal > 0, diagonal * (m / N)[..., None], 1.0)
    return S + added[..., None] * unit


def square(inverse: Array, x: Array) -> Array:
    """xᵀ Σ⁻¹ x, [...]."""
    return dot(x, times(inverse, x))


def squares(inverse: Array, x: Array, A: Array) -> Array:
    """‖x‖² and ‖A‖² in the metric, [..., 2]."""
    both = square(inverse, x), trace_of_square(product(inverse, A))
    return array_namespace(x).stack(both, axis=-1)


def normalised(sigma: Array, u: Array) -> Array:
    """u / √(uᵀΣu); 0 stays 0."""
    xp = array_namespace(u)
    return u / xp.sqrt(xp.clip(square(sigma, u), min=TINY))[..., None]
