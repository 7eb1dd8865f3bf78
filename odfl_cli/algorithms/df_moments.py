"""DF-Moments: decisions from first and second moments of features weighted by costs.

All costs of a round must be seen. For costs c = φ(⟨x, θ*⟩) + noise the first moment E[c x] points along
θ* when φ has a slope (least squares), and the second moment E[(c − c̄) x xᵀ] has θ* as its lowest
eigenvector when φ is high in the middle (Stein, *Estimation of the Mean of a Multivariate Normal
Distribution*, Annals of Statistics 9(6), 1981; Li, *On Principal Hessian Directions*, JASA 87(420),
1992). docs/df-moments.md derives every line.

The algorithm, for decisions argmin_w ⟨Dθ, w⟩ with D [d, m] the predictor's design of the round
without the rows of items that are not offered:

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

Everything starts at 0, except ω_j = 1/J and a, the median cost of round 1. N = N_∞, Σ = S_∞/N_∞, q_A and all
means include the round itself; b, f_j, v and ρ's b are those of the round before. Σ is the metric of
all norms, ‖μ‖² = μᵀΣ⁻¹μ and ‖M‖² = tr(Σ⁻¹MΣ⁻¹M), so nothing depends on the units of features or costs;
normalise(u) = u/√(uᵀΣu), and 0 stays 0. Before a matrix S is inverted, (m/N) diag(S) is added to it,
and 1 where the diagonal is 0 so far. n_A counts the coordinates: m for the first moment, m(m + 1)/2
for the second. s is `standard_errors`.
"""

from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from odfl_cli.algorithms.base import LinearLearner
from odfl_cli.core.arrays import Array, like, map_arrays, to_numpy
from odfl_cli.core.settings import NonNegative, PositiveInt, settings


class DFMomentsState(NamedTuple):
    """θ_{t+1} and its sums; J memories, the first of which forgets nothing."""

    t: int
    theta: Array  # Π_Θ(v), with the same decisions as v, [S, m]
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


@settings
class DFMoments(LinearLearner):
    """DF-Moments; it has no constants to tune per problem.

    `memories` are the lengths τ of the fading memories in rounds (γ = 1 − 1/τ), besides one that
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

    @cached_property
    def rules(self) -> Any:
        """The settings for the compiled functions."""
        switches = self.curvature, self.refine, self.robust, self.problem.polytope.constant_sum
        return self.rows.Rules(
            self.fading, self.sizes, self.errors, self.standard_errors, *map(bool, switches)
        )

    @property
    def rows(self) -> ModuleType:
        """The module of the compiled functions, imported when it is first needed."""
        return import_module("odfl_cli.algorithms.df_moments_rows")

    def update(
        self, state: DFMomentsState, X: Array, costs: Array, draws: dict[str, Array]
    ) -> DFMomentsState:
        """Lines 2 to 10, one seed after the other, so that seeds do not affect each other."""
        minimise, rules = self.problem.polytope.minimise, self.rules
        offered = ~np.isnan(to_numpy(X)[..., 0])
        copies = [
            np.array(to_numpy(x), np.float64, order="C")
            for x in (self.design(X), costs, *state[1:])
        ]
        D, c, new = *copies[:2], DFMomentsState(state.t + 1, *copies[2:])
        inverse = np.empty(new.gram[:, 0].shape)
        g, step = self.rows.learn(rules, D, c, offered, new, inverse)  # 2 to 8, and h of 9
        ahead, behind = (to_numpy(minimise(like(X, x))) for x in (g + step, g - step))
        changes = np.array(ahead - behind, dtype=np.float64, order="C")
        self.rows.refine(rules, D, changes, inverse, new)  # 9 and 10
        new = new._replace(theta=self.problem.theta_set.project(new.v))
        return (
            new if isinstance(X, np.ndarray) else map_arrays(new, np.ndarray, lambda x: like(X, x))
        )
