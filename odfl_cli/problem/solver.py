"""Which decision is played: the best predicted one, or one that is worse by no more than κ."""

from odfl_cli.core.arrays import Array, dot
from odfl_cli.core.errors import RowError
from odfl_cli.core.settings import NonNegative, settings
from odfl_cli.problem.polytopes import Polytope

ABSOLUTE_ROUNDING, RELATIVE_ROUNDING = 1e-9, 1e-12


@settings
class Solver:
    """Plays some w ∈ W with ⟨ĉ, w⟩ ≤ min_{w'∈W} ⟨ĉ, w'⟩ + κ ("approximate optimal solution").

    The paper's proposition allows any such w, so this is an unkind one: as far as κ lets it from
    the best predicted decision towards the worst. Deterministic, row by row, verified every time.
    """

    kappa: NonNegative = 0.0

    def decide(self, polytope: Polytope, prediction: Array) -> Array:
        """w* + λ (w_worst − w*) with the largest λ ≤ 1 that κ allows, [..., d] as ĉ."""
        best = polytope.minimise(prediction)
        if self.kappa == 0.0:
            return best
        away = polytope.minimise(-prediction) - best
        share = self.kappa / dot(prediction, away).clip(self.kappa)
        decision = best + share[..., None] * away
        self._verify(prediction, best, decision)
        return decision

    def _verify(self, prediction: Array, best: Array, decision: Array) -> None:
        """Refuses a gap ⟨ĉ, w − w*⟩ outside [0, κ], rounding apart."""
        gap = dot(prediction, decision - best)
        size = dot(abs(prediction), abs(decision) + abs(best))
        rounding = ABSOLUTE_ROUNDING + RELATIVE_ROUNDING * size
        wrong = ((gap > self.kappa + rounding) | (gap < -rounding)).reshape(-1).tolist()
        if True in wrong:
            row = wrong.index(True)
            raise RowError(
                row,
                len(wrong),
                f"solver.kappa={self.kappa:g}: the decision's predicted cost is "
                f"{float(gap.reshape(-1)[row]):g} above that of the polytope's minimiser",
            )


def predicted_gap(polytope: Polytope, prediction: Array, decision: Array) -> Array:
    """⟨ĉ, w⟩ − min_{w'∈W} ⟨ĉ, w'⟩, [...]: what κ bounds."""
    return dot(prediction, decision - polytope.minimise(prediction))
