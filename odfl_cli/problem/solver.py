"""Decisions that may miss the best predicted cost by κ ("approximate optimal solution")."""

from odfl_cli.core.arrays import Array, dot
from odfl_cli.core.errors import RowError
from odfl_cli.problem.polytopes import Polytope

ABSOLUTE_ROUNDING, RELATIVE_ROUNDING = 1e-9, 1e-12


def decide(polytope: Polytope, prediction: Array, kappa: float) -> Array:
    """Some w ∈ W with ⟨ĉ, w⟩ ≤ min_{w'∈W} ⟨ĉ, w'⟩ + κ, [..., d] as ĉ.

    The paper's proposition allows any such w. This is the worst along one line: w* + λ (w_worst − w*)
    with the largest λ ≤ 1 that κ allows. Deterministic, row by row, and verified.
    """
    best = polytope.minimise(prediction)
    if kappa == 0.0:
        return best
    away = polytope.minimise(-prediction) - best
    share = kappa / dot(prediction, away).clip(kappa)
    decision = best + share[..., None] * away
    verify(prediction, best, decision, kappa)
    return decision


def verify(prediction: Array, best: Array, decision: Array, kappa: float) -> None:
    """Raises a RowError where the gap ⟨ĉ, w − w*⟩ is outside [0, κ] by more than rounding."""
    gap = dot(prediction, decision - best)
    size = dot(abs(prediction), abs(decision) + abs(best))
    rounding = ABSOLUTE_ROUNDING + RELATIVE_ROUNDING * size
    wrong = ((gap > kappa + rounding) | (gap < -rounding)).reshape(-1).tolist()
    if True in wrong:
        row = wrong.index(True)
        raise RowError(
            row,
            len(wrong),
            f"kappa={kappa:g}: the decision's predicted cost is "
            f"{float(gap.reshape(-1)[row]):g} above that of the polytope's minimiser",
        )


def predicted_gap(polytope: Polytope, prediction: Array, decision: Array) -> Array:
    """⟨ĉ, w⟩ − min_{w'∈W} ⟨ĉ, w'⟩, [...], which κ bounds."""
    return dot(prediction, decision - polytope.minimise(prediction))
