"""DF-Moments: decisions from the first and second moments of features weighted by costs.

All costs of a round are seen, not only those that are paid. For costs c = φ(⟨x, θ*⟩) + noise the
first moment E[c x] points along θ* when φ has a slope (least squares), and the second moment
E[(c − c̄) x xᵀ] has θ* as its lowest eigenvector when φ is high in the middle (Stein, *Estimation
of the Mean of a Multivariate Normal Distribution*, Annals of Statistics 9(6), 1981; Li, *On Principal
Hessian Directions*, JASA 87(420), 1992). docs/df-moments.md derives every line.

The box, for decisions argmin_w ⟨Dθ, w⟩ with D [d, m] the predictor's design of the round, of which
the rows that are not offered are left out:

    1  play w = argmin ⟨Dθ, w⟩
    2  centre: y = c. If Σw is constant on W: y = c − a, D less its mean over all items so far, and
       columns that have been constant within every round set to 0
       clip: y to ± N^¼ exp(mean log|y|), the mean over all y ≠ 0 so far; a ← a + Σ y/N
    3  statistics: r = y − Db; if Σw is constant, y ← y − ρ r̄; z = Dᵀy, Z = Dᵀ diag(r − r̄) D
       with ρ = (1 − (1 + s √(2/t)) V/U)₊, U = Σ_t r̄², V = Σ_t Σ_i (r_i − r̄)²/(d(d − 1))
    4  which memory: ω_j ∝ ω_j exp(−½ Σ_A n_A ‖A_t − d f_j A_j/N_j‖² / (d q_A)), A = μ and M, q_A the mean
       of ‖A_t‖² per item so far; then ω_j ← (1 − 1/t) ω_j + 1/(tJ); in round 1 nothing
    5  remember: (S, μ, M, N)_j ← γ_j (S, μ, M, N)_j + (DᵀD, z, Z, d), Q_j ← γ_j² Q_j + ‖A_t‖²
    6  shrink: f_j = (1 − (1 + s √(2/n_A)) Q_j / ‖A_j‖²)₊ for each A; for μ at least 1/N_j
    7  combine: b = (Σ ω S_j)⁻¹ Σ ω f_j μ_j, B = Σ⁻¹ Σ ω f_j M_j / Σ ω N_j
    8  direction: sign u so that uᵀΣb ≥ 0; twice u ← normalise(b + √tr(B²) u − Bu)
    9  refine: g = Dv, h = t^(−¼) √(Σ_t var(g) / Σ_t var(y)), q = Dᵀ(w(g + hy) − w(g − hy)),
       G ← G + q, Q_G ← Q_G + ‖q‖²
   10  v = normalise(u − f_G Σ⁻¹G/√Q_G), f_G by line 6 with n_A = m; θ = Π_Θ(v)

Everything starts at 0, but ω_j = 1/J and a, the median cost of round 1. N = N_∞, Σ = S_∞/N_∞, q_A and all
means include the round itself; b, f_j, v and ρ's b are those of the round before. Σ is the metric of
all norms, ‖μ‖² = μᵀΣ⁻¹μ and ‖M‖² = tr(Σ⁻¹MΣ⁻¹M), so nothing depends on the units of features or costs;
normalise(u) = u/√(uᵀΣu), and 0 stays 0. Before a matrix S is inverted, (m/N) diag(S) is added to it,
and 1 where the diagonal is 0 so far. n_A counts the coordinates: m for the first moment, m(m + 1)/2
for the second. s is `standard_errors`.
"""

from typing import NamedTuple

import numpy as np

from odfl_cli.algorithms.base import LinearLearner
from odfl_cli.core.arrays import Array, array_namespace, dot, like
from odfl_cli.core.matrices import (
    TINY,
    Metric,
    add_ridge,
    invert,
    product,
    solve,
    times,
    trace_of_square,
    weighted_gram,
    weighted_sum,
)
from odfl_cli.core.settings import NonNegative, PositiveInt, settings

POWER_STEPS = 2
"""Steps of line 8 in a round; u moves little between rounds, so more change nothing."""

WIDTH_EXPONENT = -0.25
"""How h of line 9 shrinks with t: a little faster than the t^(−1/5) that balances a difference
quotient's bias h² with its variance 1/(th), so that what is summed up is noise, not bias."""

LIMIT_EXPONENT = 0.25
"""How the limit of line 2 grows with N: nothing that has a variance is clipped in the end, and one
item weighs little in sums whose noise grows as N^½."""


class DFMomentsState(NamedTuple):
    """θ_{t+1} and the sums behind it; J memories, the first of which forgets nothing."""

    t: int
    theta: Array  # Π_Θ(v), which decides as v does, [S, m]
    v: Array  # [S, m]
    column_mean: Array  # of D over all items, [S, m]
    location: Array  # a, [S]
    varied: Array  # 1 where a column has differed between the items of a round, [S, m]
    logs: Array  # Σ log|y| and the number of its terms, [S, 2]
    shocks: Array  # U and V, [S, 2]
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
    spread: Array  # Σ_t var(g) and Σ_t var(y), [S, 2]


class Seen(NamedTuple):
    """What lines 2 and 3 take from a round, and the metric with this round in it."""

    D: Array  # centred design, zero where nothing is offered, [S, d, m]
    y: Array  # centred and clipped costs, [S, d]
    offered: Array  # 1, or 0 for items that cannot be played, [S, d]
    d: Array  # how many are offered, [S]
    gram: Array  # DᵀD, [S, m, m]
    z: Array  # [S, m]
    Z: Array  # [S, m, m]
    squares: Array  # ‖z‖² and ‖Z‖², [S, 2]
    metric: Metric


@settings
class DFMoments(LinearLearner):
    """DF-Moments; nothing is to be set per problem.

    `memories` are the rounds τ that the fading memories remember (γ = 1 − 1/τ), beside one that
    forgets nothing. `standard_errors` is s. For ablations `curvature` switches the second moment off
    (M = 0), `refine` lines 9 and 10 (v = u), and `robust` the clipping and the shocks (ρ = 0).
    """

    memories: tuple[PositiveInt, ...] = (256, 32)
    standard_errors: NonNegative = 2.0
    curvature: bool = True
    refine: bool = True
    robust: bool = True
    name = "df_moments"
    takes_offers = True
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
            **dict.fromkeys(("location", "pull_noise"), ()),
            **dict.fromkeys(("gram", "second"), (J, m, m)),
            **dict.fromkeys(("noise", "kept"), (J, 2)),
            "first": (J, m),
            "counts": (J,),
            **dict.fromkeys(("spread", "logs", "shocks"), (2,)),
        }
        sums = {name: np.zeros((seeds, *shape)) for name, shape in shapes.items()}
        return DFMomentsState(t=0, omega=np.full((seeds, J), 1.0 / J), **sums)

    def update(
        self, state: DFMomentsState, X: Array, costs: Array, draws: dict[str, Array]
    ) -> DFMomentsState:
        """Lines 2 to 10."""
        xp, state = array_namespace(X), state._replace(t=state.t + 1)
        offered = xp.astype(~xp.isnan(X[..., 0]), X.dtype)
        state, D, y = self._centre(state, self.design(X), costs * offered, offered)  # 2
        state, seen = self._statistics(state, D, y, offered)  # 3
        state = self._which_memory(state, seen)  # 4
        state = self._remember(state, seen)  # 5
        state = self._shrink(state, seen)  # 6
        state, B = self._combine(state, seen)  # 7
        state = self._direction(state, B, seen)  # 8
        return self._refine(state, seen)  # 9 and 10

    def _centre(
        self, state: DFMomentsState, D: Array, costs: Array, offered: Array
    ) -> tuple[DFMomentsState, Array, Array]:
        """Line 2."""
        N, centres = state.counts[..., 0] + offered.sum(-1), self.problem.polytope.constant_sum
        location = median(costs, offered) if state.t == 1 else state.location
        y = (costs - location[..., None]) * offered if centres else costs
        state, y = self._clip(state, y, N) if self.robust else (state, y)
        if not centres:
            return state, D, y
        xp, shown = array_namespace(D), offered[..., None]
        differs = spans(D, shown > 0)
        varied = xp.maximum(state.varied, xp.astype(differs, D.dtype))
        off = ((D - state.column_mean[..., None, :]) * shown).sum(-2)
        column_mean = state.column_mean + off / N[..., None]
        D = (D - column_mean[..., None, :]) * varied[..., None, :] * shown
        location = location + y.sum(-1) / N
        state = state._replace(column_mean=column_mean, location=location, varied=varied)
        return state, D, y

    def _clip(self, state: DFMomentsState, y: Array, N: Array) -> tuple[DFMomentsState, Array]:
        """The second half of line 2."""
        xp = array_namespace(y)
        some = xp.astype(y != 0, y.dtype)
        log = xp.log(xp.abs(y) + 1.0 - some) * some
        logs = state.logs + xp.stack([log.sum(-1), some.sum(-1)], axis=-1)
        scale = xp.exp(logs[..., 0] / xp.clip(logs[..., 1], min=1.0))
        limit = (N**LIMIT_EXPONENT * scale)[..., None]
        return state._replace(logs=logs), xp.minimum(xp.maximum(y, -limit), limit)

    def _statistics(
        self, state: DFMomentsState, D: Array, y: Array, offered: Array
    ) -> tuple[DFMomentsState, Seen]:
        """Line 3."""
        xp, d = array_namespace(D), offered.sum(-1)
        r = y - dot(D, state.b[..., None, :])
        middle = r.sum(-1) / d
        r = (r - middle[..., None]) * offered
        if self.robust and self.problem.polytope.constant_sum:
            noise = (r * r).sum(-1) / (d * xp.clip(d - 1.0, min=1.0))
            shocks = state.shocks + xp.stack([middle * middle, noise], axis=-1)
            error = 1.0 + self.standard_errors * (2.0 / state.t) ** 0.5
            shock = signal_share(error * shocks[..., 1], shocks[..., 0]) * middle
            state, y = state._replace(shocks=shocks), y - shock[..., None] * offered
        N = state.counts[..., 0] + d
        gram = weighted_gram(D, offered)
        sigma = (state.gram[..., 0, :, :] + gram) / N[..., None, None]
        metric = Metric(sigma, invert(add_ridge(sigma, N)))
        z, Z = weighted_sum(D, y), weighted_gram(D, r * float(self.curvature))
        return state, Seen(D, y, offered, d, gram, z, Z, metric.squares(z, Z), metric)

    def _which_memory(self, state: DFMomentsState, seen: Seen) -> DFMomentsState:
        """Line 4: how well each memory predicted z and Z; in round 1 none did."""
        xp, t, d = array_namespace(seen.z), state.t, seen.d[..., None]
        if t == 1:
            return state
        shares = (d / state.counts)[..., None] * state.kept
        missed_z = seen.z[..., None, :] - shares[..., 0, None] * state.first
        missed_Z = seen.Z[..., None, :, :] - shares[..., 1, None, None] * state.second
        missed = seen.metric.for_each().squares(missed_z, missed_Z)
        usual = (state.noise[..., 0, :] + seen.squares) * d / (state.counts[..., :1] + d)
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
            counts=gamma * state.counts + seen.d[..., None],
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
        b, B = solve(add_ridge(gram, N), first), product(seen.metric.inverse, second)
        return state._replace(b=b), B

    def _direction(self, state: DFMomentsState, B: Array, seen: Seen) -> DFMomentsState:
        """Line 8: ascends ⟨b, u⟩ − ½ uᵀMu on the unit sphere of the metric, from the last u."""
        xp, u, b = array_namespace(B), state.u, state.b
        along = dot(u, times(seen.metric.sigma, b))
        u = xp.where(along < 0, -1.0, 1.0)[..., None] * u
        radius = xp.sqrt(xp.clip(trace_of_square(B), min=0.0))[..., None]
        for _ in range(POWER_STEPS):
            u = seen.metric.normalise(b + radius * u - times(B, u))
        return state._replace(u=u)

    def _refine(self, state: DFMomentsState, seen: Seen) -> DFMomentsState:
        """Lines 9 and 10."""
        xp, metric, v = array_namespace(seen.z), seen.metric, state.u
        q, spread = self._perturb(state, seen)
        G, Q = state.pull + q, state.pull_noise + metric.square(q)
        if self.refine:
            kept = signal_share(float(self.errors[0]) * Q, metric.square(G))
            length = kept / xp.sqrt(xp.clip(Q, min=TINY))
            v = metric.normalise(v - length[..., None] * times(metric.inverse, G))
        theta = self.problem.theta_set.project(v)
        return state._replace(theta=theta, v=v, pull=G, pull_noise=Q, spread=spread)

    def _perturb(self, state: DFMomentsState, seen: Seen) -> tuple[Array, Array]:
        """q of line 9, [S, m], and the sums of variances with this round in them, [S, 2]."""
        xp, minimise = array_namespace(seen.z), self.problem.polytope.minimise
        g, of = dot(seen.D, state.v[..., None, :]), seen.offered
        spread = state.spread + xp.stack([variance(g, of), variance(seen.y, of)], axis=-1)
        h = state.t**WIDTH_EXPONENT * xp.sqrt(spread[..., 0] / xp.clip(spread[..., 1], min=TINY))
        g, step = xp.where(of > 0, g, xp.nan), h[..., None] * seen.y
        return weighted_sum(seen.D, minimise(g + step) - minimise(g - step)), spread


def median(costs: Array, offered: Array) -> Array:
    """A cost in the middle of those offered, [S]."""
    xp = array_namespace(costs)
    ascending = xp.sort(xp.where(offered > 0, costs, xp.inf), axis=-1)
    places = xp.cumulative_sum(xp.ones_like(costs), axis=-1) - 1.0
    middle = xp.floor(offered.sum(-1) / 2.0)[..., None]
    return xp.where(places == middle, ascending, xp.zeros_like(costs)).sum(-1)


def spans(D: Array, shown: Array) -> Array:
    """Whether a column differs between the items that are shown, [S, m]."""
    xp = array_namespace(D)
    highest = xp.max(xp.where(shown, D, -xp.inf), axis=-2)
    return highest > xp.min(xp.where(shown, D, xp.inf), axis=-2)


def variance(values: Array, offered: Array) -> Array:
    """Over the items that are offered, [S]; `values` are 0 for the others."""
    centred = (values - (values.sum(-1) / offered.sum(-1))[..., None]) * offered
    return (centred * centred).sum(-1) / offered.sum(-1)


def signal_share(noise: Array, size: Array) -> Array:
    """(1 − noise/size)₊: the share of a squared norm that noise does not explain."""
    xp = array_namespace(size)
    return xp.clip((size - noise) / xp.clip(size, min=TINY), min=0.0)
