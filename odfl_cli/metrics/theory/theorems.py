"""Right-hand sides of the paper's regret bounds for every round of a run, and their assumptions.

Theorems 1 and 2 (log barrier on a polytope) and the two propositions of the appendix (entropy on
the simplex) are one formula each for DF-FTPL and DF-OGD with other constants. Where statement and
proof disagree the proof is followed. All bounds are on the average regret, as functions of t, with
arrays [..., rounds] that may hold a subset of the rounds 1, …, T.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

ROUNDING = 1e-12


class Margin(NamedTuple):
    """P(margin < ε) ≤ C_0 ε^β."""

    c0: float
    beta: float

    def curve(self, epsilon: np.ndarray) -> np.ndarray:
        """C_0 ε^β."""
        return self.c0 * epsilon**self.beta


@dataclass(frozen=True, kw_only=True)
class Constants:
    """The constants of the right-hand sides."""

    diameter: float  # D_Θ
    slope: float  # G ≥ ‖∇_θ g(θ, X_t)‖
    costs: float  # D_Z ≥ ‖c_t‖
    suboptimality: float  # n, or ln d with the entropy
    steepness: float  # f̃ is Lipschitz with steepness · G · D_Z / α
    vertices: float  # max_k ‖v_k‖_1
    parameters: int  # m
    margin: Margin  # C_0 and β of Assumption 2


def df_ogd_bound(
    constants: Constants, t: np.ndarray, alpha: np.ndarray, eta: np.ndarray, path_length: np.ndarray
) -> np.ndarray:
    """Dynamic regret of DF-OGD up to t over t (Theorem 2; on the simplex its proposition), minus ξ.

    (D_Θ² + 2 D_Θ P_t) / (2 t η_t) + (1/t) Σ_{s≤t} (η_s K_s² / 2 + 2 D_Z E‖w̃_s − w*_s‖_1).
    """
    D = constants.diameter
    path = (D**2 + 2 * D * path_length) / (2 * t * eta)
    steps = eta * lipschitz(constants, alpha) ** 2 / 2
    smoothing = 2 * constants.costs * smoothing_distance(constants, alpha)
    return path + running_mean(t, steps + smoothing)


def df_ftpl_bound(
    constants: Constants, t: np.ndarray, alpha: np.ndarray, eta: np.ndarray
) -> np.ndarray:
    """Static regret of DF-FTPL up to t over t (Theorem 1; on the simplex its proposition), minus ξ.

    η m² D_Θ K² + m D_Θ / (η t) + 2 D_Z E‖w̃ − w*‖_1, with K the Lipschitz constant of f̃. The paper
    leaves a constant in O(·) before the first two terms, which is 1 here.
    """
    m, D = constants.parameters, constants.diameter
    leader = eta * m**2 * D * lipschitz(constants, alpha) ** 2 + m * D / (eta * t)
    return leader + 2 * constants.costs * smoothing_distance(constants, alpha)


def lipschitz(constants: Constants, alpha: np.ndarray) -> np.ndarray:
    """K with |f̃(θ) − f̃(θ')| ≤ K ‖θ − θ'‖: 5 G D_Z / (4 α) with the entropy."""
    return constants.steepness * constants.slope * constants.costs / alpha


def smoothing_distance(constants: Constants, alpha: np.ndarray) -> np.ndarray:
    """The bound on E‖w̃_α(θ) − w*(θ)‖_1 under Assumption 2.

    α + 2 V C_0 (nα)^β min(ln(2V/α), 1/(1 − β)), V = max_k ‖v_k‖_1; n is ln d and V is 1 with the
    entropy on the simplex.
    """
    c0, beta = constants.margin
    V, n = constants.vertices, constants.suboptimality
    ceiling = np.inf if beta == 1 else 1 / (1 - beta)
    factor = np.minimum(np.log(np.maximum(2 * V / alpha, 1.0)), ceiling)
    return alpha + np.where(factor > 0, 2 * V * c0 * (n * alpha) ** beta, 0.0) * factor


def inexactness(constants: Constants, kappa: float) -> float:
    """The average regret that decisions within κ of the best predicted cost add, by Assumption 2.

    Such a decision has at most min(1, κ/margin) of its weight on other vertices than the best, so that it
    costs at most 2 V D_Z E min(1, κ/margin) more, where P(κ/margin > u) ≤ a u^{−β} with a = C_0 κ^β.
    The paper adds κ, which bounds the predicted cost alone.
    """
    if kappa == 0.0:
        return 0.0
    c0, beta = constants.margin
    a = min(c0 * kappa**beta, 1.0)
    share = a - a * np.log(a) if beta == 1 else (a - beta * a ** (1 / beta)) / (1 - beta)
    return float(2 * constants.vertices * constants.costs * share)


def running_mean(t: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(1/t) Σ_{s≤t} values_s from values that are known only at the rounds t [rounds].

    A round in between counts with the larger of its neighbours, so that a bound stays one.
    """
    before = np.concatenate([values[..., :1], values[..., :-1]], axis=-1)
    between = np.diff(t, prepend=0) - 1
    with np.errstate(invalid="ignore"):  # no rounds in between, and an infinite value: 0 · ∞
        skipped = np.where(between > 0, between * np.maximum(before, values), 0.0)
    return np.cumsum(skipped + values, axis=-1) / t


def broken_assumptions(notes: Mapping[str, np.ndarray], t: np.ndarray | None = None) -> list[str]:
    """One line per assumption of Theorem 2 that the notes [S, rounds] at t (default 1, 2, …) contradict."""
    if "path_length" not in notes:
        return []
    rounds = np.arange(1, notes["path_length"].shape[-1] + 1) if t is None else t
    sequences = {"(1 + P_t)/t": (1 + notes["path_length"]) / rounds, "η_t": notes["eta"]}
    return [line for name in sequences for line in _describe_rise(name, sequences[name], rounds)]


def _describe_rise(name: str, values: np.ndarray, rounds: np.ndarray) -> list[str]:
    """A line about the first rise of a sequence that should not rise; empty if there is none."""
    rising = np.diff(values, axis=-1) > ROUNDING * np.abs(values[..., :-1])
    if not rising.any():
        return []
    seeds, first = int(rising.any(-1).sum()), int(rounds[1:][rising.any(0)][0])
    return [
        f"{name} should be non-increasing (Theorem 2) and rises in {rising.mean():.0%} of the "
        f"steps, first up to round {first}, for {seeds} of {len(rising)} seeds: the results are "
        "right, but the theorem does not cover them"
    ]
