"""Rules of thumb without learning: past costs, a forecast, a constant decision.

They use only the costs of earlier rounds and the features of the current one.
"""

from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from odfl_cli.algorithms.base import Algorithm, State
from odfl_cli.core.arrays import Array, array_namespace, like
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import Integer, PositiveInt, settings
from odfl_cli.core.text import did_you_mean

Item = Annotated[Integer, Field(ge=0)]


class PastState(NamedTuple):
    """The costs of the last rounds, oldest first; NaN for items not offered and before round 1."""

    t: int
    theta: Array  # [S, m], zero
    past: Array  # [S, window · season, d]
    latest: Array  # the last known cost of every item, 0 before, [S, d]


@settings
class RollingMean(Algorithm):
    """Predicts the mean cost of an item in rounds t − season, t − 2·season, …, `window` of them.

    For an item that none of these rounds offered, the prediction is its last known cost.
    """

    window: PositiveInt = 7
    season: PositiveInt = 1
    name = "rolling_mean"
    takes_offers = True

    def init(self, seeds: int, truth: np.ndarray | None) -> PastState:
        problem, length = self.problem, self.window * self.season
        theta, latest = np.zeros((seeds, problem.parameters)), np.zeros((seeds, problem.items))
        return PastState(0, theta, np.full((seeds, length, problem.items), np.nan), latest)

    def decide(self, state: PastState, X: Array) -> tuple[Array, Array]:
        """The mean of the known costs, and the best decision for it."""
        xp, seen = array_namespace(X), state.past[:, :: self.season]
        known = ~xp.isnan(seen)
        count = xp.astype(known, X.dtype).sum(1)
        total = xp.where(known, seen, xp.zeros_like(seen)).sum(1)
        mean = xp.where(count > 0, total / xp.clip(count, min=1.0), state.latest)
        prediction = self.problem.mark_missing(mean, X)
        return prediction, self.problem.decide(prediction)

    def update(
        self, state: PastState, X: Array, costs: Array, draws: dict[str, Array]
    ) -> PastState:
        xp, seen = array_namespace(X), self.problem.mark_missing(costs, X)
        past = xp.concat([state.past[:, 1:], seen[:, None]], axis=1)
        latest = xp.where(xp.isnan(seen), state.latest, seen)
        return PastState(state.t + 1, state.theta, past, latest)


@settings
class Forecast(Algorithm):
    """Predicts a feature, such as a published forecast; `column` is its name or position."""

    column: Item | str = 0
    name = "forecast"
    takes_offers = True

    def __post_init__(self) -> None:
        names = self.problem.feature_names
        if self.problem.shape != (self.problem.items, self.problem.features):
            raise UserError("algo=forecast: it needs features of every item")
        if isinstance(self.column, str) and self.column not in names:
            hint = did_you_mean(self.column, names) if names else "the data name no columns"
            raise UserError(f"algo.column={self.column}: there is no such feature; {hint}")
        if not isinstance(self.column, str) and self.column >= self.problem.features:
            raise UserError(
                f"algo.column={self.column}: there are {self.problem.features} features, from 0"
            )

    def decide(self, state: State, X: Array) -> tuple[Array, Array]:
        names = self.problem.feature_names
        index = names.index(self.column) if isinstance(self.column, str) else self.column
        prediction = X[..., index]
        return prediction, self.problem.decide(prediction)


@settings
class Always(Algorithm):
    """Plays the same items in every round and predicts zero.

    If these do not fill the decision or are not offered, the first others are played.
    """

    items: Annotated[tuple[Item, ...], Field(min_length=1)] = (0,)
    name = "always"
    takes_offers = True

    def __post_init__(self) -> None:
        if max(self.items) >= self.problem.items:
            raise UserError(
                f"algo.items: there is no item {max(self.items)}; "
                f"there are {self.problem.items}, from 0"
            )

    def decide(self, state: State, X: Array) -> tuple[Array, Array]:
        """The decision that is best if the chosen items cost −1 and the others 0."""
        xp = array_namespace(X)
        wanted = np.zeros(self.problem.items)
        wanted[list(self.items)] = -1.0
        lead = X.shape[: X.ndim - len(self.problem.shape)]
        zero = xp.zeros((*lead, self.problem.items), dtype=X.dtype, device=X.device)
        prediction = self.problem.mark_missing(zero, X)
        chosen = like(X, wanted)
        return prediction, self.problem.decide(prediction + chosen)
