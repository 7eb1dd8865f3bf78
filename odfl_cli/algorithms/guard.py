"""A guard: one algorithm that is trusted, and rivals that take over where they pay less.

(A,B)-Prod of Sani, Neu & Lazaric, *Exploiting Easy Data in Online Optimization*, NeurIPS 2014, with
several rivals as in Even-Dar, Kearns, Mansour & Wortman, *Regret to the Best vs. Regret to the
Average*, Machine Learning 72, 2008. All costs are seen, so that every decision's cost is known.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field, SkipValidation

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.algorithms.mixture import Mixture, build
from odfl_cli.core.arrays import Array, array_namespace
from odfl_cli.core.errors import RowError, UserError
from odfl_cli.core.matrices import TINY
from odfl_cli.core.settings import Real, settings


class GuardState(NamedTuple):
    """The weights of the base and its rivals, and their states."""

    t: int
    theta: Array  # of the base, [S, m]
    log_weights: Array  # ln v_k, [S, 1 + N]
    reach: Array  # the largest |ℓ_0 − ℓ_k| so far, [S]
    states: tuple[Any, ...]  # of the base, then of the rivals


@settings
class Guard(Mixture):
    """Plays Σ_k p_k w*(θ_k) with p ∝ v; v_0 of the base stays, v_k ← v_k (1 + η (ℓ_0 − ℓ_k)/range).

    Rivals begin with a share η of the weight. With costs ℓ in a known range, in any sequence of rounds:

        Σ ℓ ≤ Σ ℓ_0 + range · ln(1/(1 − η))/η                       (at most 1.39 range in all)
        Σ ℓ ≤ Σ ℓ_k + η Σ (ℓ_0 − ℓ_k)²/range + range · ln(N/η)/η     for each of N rivals.

    η = ½ √(ln T / T) makes the second O(√(T ln T)); a large η leaves the base sooner. `range` bounds
    |ℓ_0 − ℓ_k|; empty: the largest difference so far, for which the bounds hold in its units.
    """

    base: SkipValidation[Callable[..., Algorithm]]
    rivals: SkipValidation[dict[str, Callable[..., Algorithm] | None]]  # None: not this one
    eta: Annotated[Real, Field(gt=0, le=0.5)] = 0.5
    range: Annotated[Real, Field(gt=0)] | None = None
    name = "guard"

    def __post_init__(self) -> None:
        if not isinstance(self.rivals, dict):
            raise UserError(
                f"algo.rivals={self.rivals}: algorithms by name, see conf/algo/guard.yaml"
            )
        if len(self.learners) == 1:
            raise UserError("algo.rivals: a guard needs one rival at least")

    @cached_property
    def learners(self) -> tuple[Algorithm, ...]:
        """The base, then the rivals."""
        rivals = {f"algo.rivals.{name}": rival for name, rival in self.rivals.items() if rival}
        parts = {"algo.base": self.base, **rivals}
        return tuple(build(part, key, problem=self.problem) for key, part in parts.items())

    def init(self, seeds: int, truth: np.ndarray | None) -> GuardState:
        """Weight 1 − η on the base, η divided among the rivals."""
        states = tuple(learner.init(seeds, None) for learner in self.learners)
        rivals = len(states) - 1
        prior = np.log([1.0 - self.eta, *[self.eta / rivals] * rivals])
        weights = np.tile(prior, (seeds, 1))
        return GuardState(0, states[0].theta, weights, np.zeros(seeds), states)

    def shares(self, state: GuardState) -> Array:
        """Proportional to the weights, [S, 1 + N]."""
        xp, logs = array_namespace(state.log_weights), state.log_weights
        weights = xp.exp(logs - xp.max(logs, axis=-1)[..., None])
        return weights / weights.sum(-1)[..., None]

    def leader(self, state: GuardState) -> Array:
        """The base."""
        leader = array_namespace(state.log_weights).zeros_like(state.log_weights)
        leader[..., 0] = 1.0
        return leader

    def weigh(self, state: GuardState, paid: Array) -> GuardState:
        """v_k by what the rivals would have paid."""
        xp = array_namespace(paid)
        lead = paid[..., :1] - paid
        reach = xp.maximum(state.reach, xp.max(xp.abs(lead), axis=-1))
        if self.range is not None and bool(xp.any(reach > self.range)):
            row = int(xp.argmax(reach))
            raise RowError(row, reach.shape[0], self.too_far(float(reach[row])))
        scale = xp.clip(reach, min=TINY) if self.range is None else 0.0 * reach + self.range
        weights = state.log_weights + xp.log1p(self.eta * lead / scale[..., None])
        return state._replace(log_weights=weights, reach=reach)

    def too_far(self, reach: float) -> str:
        """The message about costs that differ by more than `range`, for which there is no bound."""
        return (
            f"algo.range={self.range:g}: the base's cost and a rival's differ by {reach:.6g}; "
            "give a range that is larger, or none (algo.range=null)"
        )
