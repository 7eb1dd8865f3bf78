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
    4  which memory: ω_j ∝ ω_j exp(−½ Σ_A n_A ‖A_t/d − f_j A_j/N_j‖² / mean‖A_t/d‖²), A = μ and M;
       then fixed share 1/t
    5  remember: (S, μ, M, N)_j ← γ_j (S, μ, M, N)_j + (DᵀD, z, Z, d), Q_j ← γ_j² Q_j + ‖A_t‖²
    6  shrink: f_j = (1 − (1 + s √(2/n_A)) Q_j / ‖A_j‖²)₊ for each A; for μ at least 1/N_j
    7  combine: b = (Σ ω S_j)⁻¹ Σ ω f_j μ_j, B = Σ⁻¹ Σ ω f_j M_j / Σ ω N_j
    8  direction: sign u so that uᵀΣb ≥ 0; twice u ← normalise(b + √tr(B²) u − Bu)
    9  refine: h = t^(−1/4) sd(g)/sd(c), q = Dᵀ(w(g + hc) − w(g − hc)), G ← G + q, Q_G ← Q_G + ‖q‖²
   10  θ = normalise(u − f_G Σ⁻¹G/√Q_G), f_G by line 6

Σ = S_∞/N_∞ is the metric of all norms, ‖μ‖² = μᵀΣ⁻¹μ and ‖M‖² = tr(Σ⁻¹MΣ⁻¹M), so nothing depends on
the units of features or costs. Before a matrix S is inverted, (m/N) diag(S) is added to it.
n_A counts the coordinates: m for the first moment, m(m + 1)/2 for the second.
"""

from typing import NamedTuple

import numpy as np

from odfl_cli.algorithms.base import LinearLearner
from odfl_cli.core.arrays import Array, array_namespace, dot, like
from odfl_cli.core.matrices import (
    TINY,
    Metric,
    inverted,
    mean,
    product,
    solved,
    times,
    trace_of_square,
    variance,
    weighted_gram,
    weighted_sum,
    with_ridge,
)
from odfl_cli.core.settings import NonNegative, PositiveInt, settings

POWER_STEPS = 2
"""Steps of line 8 in a round; u moves little between rounds, so more change nothing."""

WIDTH_EXPONENT = -0.25
"""How h of line 9 shrinks with t: a little faster than the t^(−1/5) that balances a difference
quotient's bias h² with its variance 1/(th), so that what is summed up is noise, not bias."""


class DFMomentsState(NamedTuple):
    """θ_{t+1} and the sums behind it; J memories, the first of which forgets nothing."""

    t: int
    theta: Array  # Π_Θ(v), which decides as v does, [S, m]
    v: Array  # θ of line 10, [S, m]
    column_mean: Array  # of D over all rounds, [S, m]
    cost_mean: Array  # [S]
    varied: Array  # 1 where a column has differed between the items of a round, [S, m]
    gram: Array  # S_j, [S, J, m, m]
    first: Array  # μ_j, [S, J, m]
    second: Array  # M_j, [S, J, m, m]
    counts: Array  # N_j, [S, J]
    noise: Array  # Q_j of μ and of M, [S, J, 2]
    kept: Array  # f_j of μ and of M, [S, J, 2]
    omega: Array  # ω_j, [S, J]
    b: Array  # [S, m]
    u: Array  # [S, m]
    pull: Array  # G, [S, m]
    pull_noise: Array  # Q_G, [S]
    spread: Array  # Σ_t var(g) and Σ_t var(c), [S, 2]


class Seen(NamedTuple):
    """What line 3 takes from a round, and the metric with this round in it."""

    D: Array  # centred design, [S, d, m]
    gram: Array  # DᵀD, [S, m, m]
    z: Array  # [S, m]
    Z: Array  # [S, m, m]
    squares: Array  # ‖z‖² and ‖Z‖², [S, 2]
    metric: Metric


@settings
class DFMoments(LinearLearner):
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

    @property
    def fading(self) -> np.ndarray:
        """γ_j, [J]; γ_∞ = 1 is the first."""
        return 1.0 - np.array([0.0, *(1.0 / tau for tau in self.memories)])

    @property
    def sizes(self) -> np.ndarray:
        """n_A of μ and of M, [2]."""
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
        state, D = state._replace(t=state.t + 1), self.design(X)
        state, push = self._perturb(state, D, costs)  # 9 needs D and c as they came
        state, D, costs = self._centre(state, D, costs)  # 2
        seen = self._statistics(state, D, costs)  # 3
        state = self._which_memory(state, seen)  # 4
        state = self._remember(state, seen)  # 5
        state = self._shrink(state, seen)  # 6
        state, B = self._combine(state, seen)  # 7
        state = self._direction(state, B, seen)  # 8
        return self._refine(state, push, seen)  # 9 and 10

    def _perturb(
        self, state: DFMomentsState, D: Array, costs: Array
    ) -> tuple[DFMomentsState, Array]:
        """The first half of line 9: w(g + hc) − w(g − hc), [S, d]."""
        xp, minimise = array_namespace(D), self.problem.polytope.minimise
        g = dot(D, state.v[..., None, :])
        spread = state.spread + xp.stack([variance(g), variance(costs)], axis=-1)
        h = state.t**WIDTH_EXPONENT * xp.sqrt(spread[..., 0] / xp.clip(spread[..., 1], min=TINY))
        step = h[..., None] * costs
        return state._replace(spread=spread), minimise(g + step) - minimise(g - step)

    def _centre(
        self, state: DFMomentsState, D: Array, costs: Array
    ) -> tuple[DFMomentsState, Array, Array]:
        """Line 2."""
        if not self.problem.polytope.constant_sum:
            return state, D, costs
        xp = array_namespace(D)
        varied = xp.astype(xp.max(xp.abs(D - D[..., :1, :]), axis=-2) > 0, D.dtype)
        varied = xp.maximum(state.varied, varied)
        column_mean = state.column_mean + (mean(D, -2) - state.column_mean) / state.t
        cost_mean = state.cost_mean + (mean(costs, -1) - state.cost_mean) / state.t
        centred = (D - column_mean[..., None, :]) * varied[..., None, :]
        state = state._replace(column_mean=column_mean, cost_mean=cost_mean, varied=varied)
        return state, centred, costs - cost_mean[..., None]

    def _statistics(self, state: DFMomentsState, D: Array, costs: Array) -> Seen:
        """Line 3."""
        r = costs - dot(D, state.b[..., None, :])
        r = (r - mean(r, -1)[..., None]) * float(self.curvature)
        gram, N = weighted_gram(D, 1.0 + 0.0 * r), state.counts[..., 0] + D.shape[-2]
        sigma = (state.gram[..., 0, :, :] + gram) / N[..., None, None]
        metric = Metric(sigma, inverted(with_ridge(sigma, N)))
        z, Z = weighted_sum(D, costs), weighted_gram(D, r)
        return Seen(D, gram, z, Z, metric.squares(z, Z), metric)

    def _which_memory(self, state: DFMomentsState, seen: Seen) -> DFMomentsState:
        """Line 4: how well each memory predicted z and Z; in round 1 none did."""
        xp, t, d = array_namespace(seen.z), state.t, seen.D.shape[-2]
        if t == 1:
            return state
        told = state.kept / state.counts[..., None]
        missed_z = seen.z[..., None, :] / d - told[..., 0, None] * state.first
        missed_Z = seen.Z[..., None, :, :] / d - told[..., 1, None, None] * state.second
        missed = seen.metric.for_each().squares(missed_z, missed_Z)
        usual = (state.noise[..., 0, :] + seen.squares) / (t * d * d)
        scale = like(usual, self.sizes) / xp.clip(usual, min=TINY)
        score = -0.5 * dot(missed, scale[..., None, :])
        weight = state.omega * xp.exp(score - xp.max(score, axis=-1)[..., None])
        share = 1.0 / t
        omega = (1.0 - share) * weight / weight.sum(-1)[..., None] + share / weight.shape[-1]
        return state._replace(omega=omega)

    def _remember(self, state: DFMomentsState, seen: Seen) -> DFMomentsState:
        """Line 5."""
        gamma = like(seen.z, self.fading)
        column, matrix = gamma[:, None], gamma[:, None, None]
        return state._replace(
            gram=matrix * state.gram + seen.gram[..., None, :, :],
            first=column * state.first + seen.z[..., None, :],
            second=matrix * state.second + seen.Z[..., None, :, :],
            counts=gamma * state.counts + seen.D.shape[-2],
            noise=column**2 * state.noise + seen.squares[..., None, :],
        )

    def _shrink(self, state: DFMomentsState, seen: Seen) -> DFMomentsState:
        """Line 6."""
        xp = array_namespace(seen.z)
        size = seen.metric.for_each().squares(state.first, state.second)
        least = xp.stack([1.0 / state.counts, 0.0 * state.counts], axis=-1)
        kept = signal_share(like(size, self.errors) * state.noise, size)
        return state._replace(kept=xp.maximum(kept, least))

    def _combine(self, state: DFMomentsState, seen: Seen) -> tuple[DFMomentsState, Array]:
        """Line 7: b, and B [S, m, m]."""
        omega, weight = state.omega, state.omega[..., None] * state.kept
        N = (omega * state.counts).sum(-1)
        gram = (omega[..., None, None] * state.gram).sum(-3)
        first = (weight[..., 0, None] * state.first).sum(-2)
        second = (weight[..., 1, None, None] * state.second).sum(-3) / N[..., None, None]
        b, B = solved(with_ridge(gram, N), first), product(seen.metric.inverse, second)
        return state._replace(b=b), B

    def _direction(self, state: DFMomentsState, B: Array, seen: Seen) -> DFMomentsState:
        """Line 8: ascends ⟨b, u⟩ − ½ uᵀMu on the unit sphere of the metric, from the last u."""
        xp, u, b = array_namespace(B), state.u, state.b
        along = dot(u, times(seen.metric.sigma, b))
        u = xp.where(along < 0, -1.0, 1.0)[..., None] * u
        radius = xp.sqrt(xp.clip(trace_of_square(B), min=0.0))[..., None]
        for _ in range(POWER_STEPS):
            u = seen.metric.normalised(b + radius * u - times(B, u))
        return state._replace(u=u)

    def _refine(self, state: DFMomentsState, push: Array, seen: Seen) -> DFMomentsState:
        """The second half of line 9, and line 10."""
        xp, metric, v = array_namespace(push), seen.metric, state.u
        q = weighted_sum(seen.D, push)
        G, Q = state.pull + q, state.pull_noise + metric.square(q)
        if self.refine:
            kept = signal_share(float(self.errors[0]) * Q, metric.square(G))
            length = kept / xp.sqrt(xp.clip(Q, min=TINY))
            v = metric.normalised(v - length[..., None] * times(metric.inverse, G))
        theta = self.problem.theta_set.project(v)
        return state._replace(theta=theta, v=v, pull=G, pull_noise=Q)


def signal_share(noise: Array, size: Array) -> Array:
    """(1 − noise/size)₊: the share of a squared norm that noise does not explain."""
    xp = array_namespace(size)
    return xp.clip((size - noise) / xp.clip(size, min=TINY), min=0.0)
