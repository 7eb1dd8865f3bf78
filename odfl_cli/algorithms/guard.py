"""A guard: one algorithm that is trusted, and rivals that take over where they pay less.

(A,B)-Prod of Sani, Neu & Lazaric, *Exploiting Easy Data in Online Optimization*, NeurIPS 2014, with
several rivals as in Even-Dar, Kearns, Mansour & Wortman, *Regret to the Best vs. Regret to the
Average*, Machine Learning 72, 2008. All costs are seen, so that every decision's cost is known.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field, SkipValidation, ValidationError

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.config.schema import refusal
from odfl_cli.core.arrays import Array, array_namespace, dot
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import Real, settings
from odfl_cli.core.streams import Draw
from odfl_cli.problem.problem import Problem

TINY = 1e-300
"""Stands in for a range of zero, which divides a zero."""


class GuardState(NamedTuple):
    """The parameters that are mixed, with the states of the algorithms behind them."""

    t: int
    theta: Array  # of the base, [S, m]
    thetas: Array  # of the base, then of the rivals, [S, 1 + N, m]
    log_weights: Array  # ln v_k, [S, 1 + N]
    reach: Array  # the largest |ℓ_0 − ℓ_k| so far, [S]
    states: tuple[Any, ...]


@settings
class Guard(Algorithm):
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
        return tuple(built(part, self.problem, key) for key, part in parts.items())

    def draws(self) -> dict[str, Draw]:
        """What the algorithms draw, each in a stream of its own."""
        return {
            f"guard/{k}/{name}": spec
            for k, learner in enumerate(self.learners)
            for name, spec in learner.draws().items()
        }

    def init(self, seeds: int, truth: np.ndarray | None) -> GuardState:
        """Weight 1 − η on the base, η divided among the rivals."""
        states = tuple(learner.init(seeds, None) for learner in self.learners)
        rivals = len(states) - 1
        prior = np.log([1.0 - self.eta, *[self.eta / rivals] * rivals])
        thetas = np.stack([state.theta for state in states], axis=1)
        weights = np.tile(prior, (seeds, 1))
        return GuardState(0, states[0].theta, thetas, weights, np.zeros(seeds), states)

    def decide(self, state: GuardState, X: Array) -> tuple[Array, Array]:
        """The base's prediction, and the mixture of all decisions, which lies in W."""
        weights = probabilities(state.log_weights)
        mixture = (weights[..., None] * self._decisions(state, X)).sum(-2)
        return self.problem.predictor.predict(state.theta, X), mixture

    def update(
        self, state: GuardState, X: Array, costs: Array, draws: dict[str, Array]
    ) -> GuardState:
        """Weighs the rivals by what they would have paid, and lets all of them learn."""
        xp = array_namespace(X)
        paid = dot(self._decisions(state, X), costs[..., None, :])
        lead = paid[..., :1] - paid
        reach = xp.maximum(state.reach, xp.max(xp.abs(lead), axis=-1))
        scale = xp.clip(reach, min=TINY) if self.range is None else 0.0 * reach + self.range
        weights = state.log_weights + xp.log1p(self.eta * lead / scale[..., None])
        states = tuple(
            learner.update(inner, X, costs, own(draws, k))
            for k, (learner, inner) in enumerate(zip(self.learners, state.states, strict=True))
        )
        thetas = xp.stack([inner.theta for inner in states], axis=1)
        return GuardState(state.t + 1, states[0].theta, thetas, weights, reach, states)

    def _decisions(self, state: GuardState, X: Array) -> Array:
        """What each would play, [S, 1 + N, d]."""
        predictions = self.problem.predictor.predict(state.thetas, X[..., None, :, :])
        return self.problem.decide(predictions)


def probabilities(log_weights: Array) -> Array:
    """Proportional to the weights, [..., 1 + N]."""
    xp = array_namespace(log_weights)
    weights = xp.exp(log_weights - xp.max(log_weights, axis=-1)[..., None])
    return weights / weights.sum(-1)[..., None]


def own(draws: dict[str, Array], k: int) -> dict[str, Array]:
    """The draws of algorithm number k under its own names."""
    prefix = f"guard/{k}/"
    return {name.removeprefix(prefix): x for name, x in draws.items() if name.startswith(prefix)}


def built(part: Any, problem: Problem, key: str) -> Algorithm:
    """The algorithm that the setting `key` describes, or a UserError in its name."""
    if not callable(part):
        raise UserError(f"{key}={part}: choose an algorithm, as algo@{key}=rls")
    try:
        return part(problem=problem)
    except ValidationError as error:
        raise refusal(error, key) from error
