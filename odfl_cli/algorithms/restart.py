"""A wrapper for drifting data: copies of an algorithm that are restarted at regular intervals.

The copies live on geometric intervals as in Daniely, Gonen & Shalev-Shwartz, *Strongly Adaptive
Online Learning*, ICML 2015; they are weighted by the fixed share of Herbster & Warmuth, *Tracking
the Best Expert*, Machine Learning 32, 1998.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field, SkipValidation

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.algorithms.hedge import exponential_weights, pick
from odfl_cli.algorithms.mixture import build
from odfl_cli.core.arrays import Array, array_namespace, dot, map_arrays
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import Positive, PositiveInt, Real, settings
from odfl_cli.core.streams import Draw


class RestartState(NamedTuple):
    """θ_{t+1}, the state of every copy, and their weights."""

    t: int
    theta: Array  # [S, m]
    weights: Array  # [S, copies]
    states: tuple[Any, ...]  # of the copies


@settings
class Restart(Algorithm):
    """Plays the θ of a copy of `base`, sampled by the recent costs of the copies.

    Copy k restarts every `shortest`·2^k rounds, the last one never: after a change in the data some
    copy has seen few earlier rounds, and without changes some copy has learnt from many. A restarted
    copy begins at the θ that is played. All copies receive the same draws.
    """

    base: SkipValidation[Callable[..., Algorithm]]
    shortest: PositiveInt = 100
    copies: Annotated[PositiveInt, Field(le=30)] = 4
    eta: Positive = 1.0
    share: Annotated[Real, Field(gt=0, le=1)] = 0.01
    name = "restart"
    needs_units = True

    def __post_init__(self) -> None:
        if type(self.learner).update is Algorithm.update:
            raise UserError(
                f"algo.base: {self.learner.name} learns nothing, so there is nothing to restart"
            )
        if type(self.learner).decide is not Algorithm.decide:
            raise UserError(
                f"algo.base: {self.learner.name} decides by more than θ, which is what copies share"
            )

    @cached_property
    def learner(self) -> Algorithm:
        """The algorithm that is copied."""
        return build(self.base, "algo.base", problem=self.problem)

    @property
    def uses_horizon(self) -> bool:
        return self.learner.uses_horizon

    def draws(self) -> dict[str, Draw]:
        inner = {f"restart/{name}": spec for name, spec in self.learner.draws().items()}
        return {"restart/choice": Draw("uniform"), **inner}

    def init(self, seeds: int, truth: np.ndarray | None) -> RestartState:
        copies = tuple(self.learner.init(seeds, None) for _ in range(self.copies))
        weights = np.full((seeds, self.copies), 1.0 / self.copies)
        return RestartState(0, copies[0].theta, weights, copies)

    def update(
        self, state: RestartState, X: Array, costs: Array, draws: dict[str, Array]
    ) -> RestartState:
        """Reweights the copies by their costs, updates them, and restarts those whose interval ends."""
        xp, t = array_namespace(X), state.t + 1
        inner = {name.removeprefix("restart/"): drawn for name, drawn in draws.items()}
        weights = self._weigh(state, X, costs)
        copies = [self.learner.update(copy, X, costs, inner) for copy in state.states]
        thetas = xp.stack([copy.theta for copy in copies], axis=1)
        seeds = xp.arange(thetas.shape[0], device=X.device)
        theta = thetas[seeds, pick(weights, draws["restart/choice"])]
        for k in self.restarting(t):
            copies[k] = self.start_anew(theta)
        return RestartState(t, theta, weights, tuple(copies))

    def _weigh(self, state: RestartState, X: Array, costs: Array) -> Array:
        """v_k ∝ v_k exp(−η ⟨c_t, w*(θ_k)⟩), then `share` of the total is spread evenly."""
        xp, polytope = array_namespace(X), self.problem.polytope
        thetas = xp.stack([copy.theta for copy in state.states], axis=1)
        decisions = polytope.minimise(self.problem.predictor.predict(thetas, X[:, None]))
        losses = dot(decisions, costs[:, None, :])
        weights = exponential_weights(losses, self.eta, state.weights)
        return (1.0 - self.share) * weights + self.share / self.copies

    def restarting(self, t: int) -> list[int]:
        """The copies that restart at the end of round t."""
        return [k for k in range(self.copies - 1) if self.age(k, t) == 0]

    def age(self, k: int, t: int) -> int:
        """The number of rounds that copy k has learnt from after round t."""
        return t if k == self.copies - 1 else t % (self.shortest * 2**k)

    def start_anew(self, theta: Array) -> Any:
        """The initial state of a copy, with θ replaced."""
        xp = array_namespace(theta)
        blank = self.learner.init(theta.shape[0], None)
        to_device = lambda values: xp.asarray(values, device=theta.device)  # noqa: E731
        return map_arrays(blank, np.ndarray, to_device)._replace(theta=theta)
