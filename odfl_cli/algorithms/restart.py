"""A wrapper for drifting worlds: copies of an algorithm that start afresh now and then.

The copies live on geometric intervals as in Daniely, Gonen & Shalev-Shwartz, *Strongly Adaptive
Online Learning*, ICML 2015; they are weighed by the fixed share of Herbster & Warmuth, *Tracking
the Best Expert*, Machine Learning 32, 1998.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field, SkipValidation, ValidationError

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.algorithms.weights import exponential_weights, pick
from odfl_cli.config.schema import refusal
from odfl_cli.core.arrays import Array, array_namespace, dot, map_arrays
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import Positive, PositiveInt, Real, settings
from odfl_cli.core.streams import Draw


class RestartState(NamedTuple):
    """θ_{t+1}, the state of every copy, and the trust in each."""

    t: int
    theta: Array  # [S, m]
    weights: Array  # [S, copies]
    copies: tuple[Any, ...]


@settings
class Restart(Algorithm):
    """Plays the θ of a copy of `base`, sampled by how well the copies did of late.

    Copy k starts afresh every `shortest`·2^k rounds, the last one never: after a change in the world
    some young copy has forgotten it, and on a calm stretch some old copy has not. A fresh copy
    takes over the θ that is played. All copies see the same draws.
    """

    base: SkipValidation[Callable[..., Algorithm]]
    shortest: PositiveInt = 100
    copies: Annotated[PositiveInt, Field(le=30)] = 4
    eta: Positive = 1.0
    share: Annotated[Real, Field(gt=0, le=1)] = 0.01
    name = "restart"

    def __post_init__(self) -> None:
        if type(self.learner).update is Algorithm.update:
            raise UserError(f"algo.base: {self.learner.name} learns nothing, so nothing restarts")

    @cached_property
    def learner(self) -> Algorithm:
        """The algorithm that is copied."""
        if not callable(self.base):
            raise UserError(f"algo.base={self.base}: not an algorithm; try algo@algo.base=rls")
        try:
            return self.base(problem=self.problem)
        except ValidationError as error:
            raise refusal(error, "algo.base") from error

    def draws(self) -> dict[str, Draw]:
        """Which copy is played next, and what a copy draws."""
        inner = {f"restart/{name}": spec for name, spec in self.learner.draws().items()}
        return {"restart/choice": Draw("uniform"), **inner}

    def init(self, seeds: int, truth: np.ndarray | None) -> RestartState:
        """All copies fresh and trusted alike."""
        copies = tuple(self.learner.init(seeds, None) for _ in range(self.copies))
        weights = np.full((seeds, self.copies), 1.0 / self.copies)
        return RestartState(0, copies[0].theta, weights, copies)

    def update(
        self, state: RestartState, X: Array, costs: Array, draws: dict[str, Array]
    ) -> RestartState:
        """Weighs the copies by what they would have paid, lets them learn, and renews the old."""
        xp, t = array_namespace(X), state.t + 1
        inner = {name.removeprefix("restart/"): drawn for name, drawn in draws.items()}
        weights = self._reweighed(state, X, costs)
        copies = [self.learner.update(copy, X, costs, inner) for copy in state.copies]
        thetas = xp.stack([copy.theta for copy in copies], axis=1)
        seeds = xp.arange(thetas.shape[0], device=X.device)
        theta = thetas[seeds, pick(weights, draws["restart/choice"])]
        for k in range(self.copies - 1):
            if t % (self.shortest * 2**k) == 0:
                copies[k] = self._fresh(theta)
        return RestartState(t, theta, weights, tuple(copies))

    def _reweighed(self, state: RestartState, X: Array, costs: Array) -> Array:
        """v_k ∝ v_k exp(−η ⟨c_t, w*(θ_k)⟩), then a share of the whole is dealt out evenly."""
        xp, polytope = array_namespace(X), self.problem.polytope
        thetas = xp.stack([copy.theta for copy in state.copies], axis=1)
        decisions = polytope.minimise(self.problem.predictor.predict(thetas, X[:, None]))
        losses = dot(decisions, costs[:, None, :])
        weights = exponential_weights(losses, self.eta, state.weights)
        return (1.0 - self.share) * weights + self.share / self.copies

    def _fresh(self, theta: Array) -> Any:
        """A copy before its round 1, but for θ."""
        xp = array_namespace(theta)
        blank = self.learner.init(theta.shape[0], None)
        to_device = lambda values: xp.asarray(values, device=theta.device)  # noqa: E731
        return map_arrays(blank, np.ndarray, to_device)._replace(theta=theta)
