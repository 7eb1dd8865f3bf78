"""Units of the data: learners whose constants have units learn from features and costs without units.

A feature is divided by the root mean square of its column in the rounds so far, the one to be decided
included, and costs by the root mean square of all costs so far. θ, the radius of Θ, step sizes and
smoothing then mean the same on all data: multiplying the costs or a column by a positive number
changes no decision. Ross, Mineiro & Langford, *Normalized Online Learning*, UAI 2013.
"""

from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from odfl_cli.algorithms.base import Algorithm, Wrapper, on_problem
from odfl_cli.core.arrays import Array, array_namespace, to_type
from odfl_cli.core.settings import settings
from odfl_cli.core.streams import Draw
from odfl_cli.feedback.base import Seen
from odfl_cli.problem.offers import replace_nan
from odfl_cli.problem.oracles.base import OracleCall
from odfl_cli.problem.problem import Problem

REACH = 0.4
"""The size of adaptive steps in units, chosen on groups of the foreign problems that no table reports."""


class Units(NamedTuple):
    """Sums of squares over the rounds so far, and the counts of their terms."""

    features: Array  # [S, p]
    offered: Array  # [S]
    costs: Array  # [S]
    seen: Array  # [S]

    @classmethod
    def zero(cls, seeds: int, features: int) -> "Units":
        """The sums before the first round."""
        return cls(np.zeros((seeds, features)), *np.zeros((3, seeds)))

    def with_features(self, X: Array) -> "Units":
        """The sums with the features X [S, d, p] of a round; NaN does not count."""
        columns = _columns(X, self.features.shape[-1])
        offered = _count(columns[..., 0])
        squares = (replace_nan(columns, 0.0) ** 2).sum(-2)
        return self._replace(features=self.features + squares, offered=self.offered + offered)

    def with_costs(self, costs: Array) -> "Units":
        """The sums with the costs [S, d] of a round; NaN does not count."""
        squares = (replace_nan(costs, 0.0) ** 2).sum(-1)
        return self._replace(costs=self.costs + squares, seen=self.seen + _count(costs))

    def scale_features(self, X: Array) -> Array:
        """X in units, in its own shape."""
        scale = _root_mean(self.features, self.offered[:, None])
        return (_columns(X, scale.shape[-1]) / scale[:, None, :]).reshape(X.shape)

    @property
    def cost(self) -> Array:
        """The unit of costs, [S, 1]."""
        return _root_mean(self.costs, self.seen)[:, None]


def _columns(X: Array, features: int) -> Array:
    """X [S, d, p]; a picture has one scale and is one column, [S, pixels, 1]."""
    return X.reshape(X.shape[0], -1, features)


def _count(values: Array) -> Array:
    """The number of values of a row that are not NaN, [S]."""
    return to_type(values == values, values.dtype).sum(-1)


def _root_mean(squares: Array, count: Array) -> Array:
    """The root of the mean; 1 if everything was zero so far."""
    xp = array_namespace(squares)
    mean = squares / count.clip(1.0)
    return xp.sqrt(xp.where(mean > 0.0, mean, 1.0))


class InUnitsState(NamedTuple):
    """The learner's state, whose θ is in units, and the units."""

    t: int
    theta: Array  # [S, m]
    units: Units
    learner: Any

    def __getattr__(self, name: str) -> Any:
        """Fields of the learner's state."""
        return getattr(self.learner, name)


@settings
class InUnits(Wrapper):
    """`base` on features and costs in units; its predictions and costs are those of the data."""

    @cached_property
    def learner(self) -> Algorithm:
        """The base on the problem in units."""
        return on_problem(self.base, self.problem.in_units)

    def draws(self) -> dict[str, Draw]:
        return self.learner.draws()

    def init(self, seeds: int, truth: np.ndarray | None) -> InUnitsState:
        state = self.learner.init(seeds, truth)
        columns = self.problem.features if len(self.problem.shape) == 2 else 1
        return InUnitsState(0, state.theta, Units.zero(seeds, columns), state)

    def begin_again(self, state: InUnitsState) -> InUnitsState:
        """Restarts the learner; the units are kept."""
        return state._replace(t=0, learner=self.learner.begin_again(state.learner))

    def decide(
        self, state: InUnitsState, X: Array, draws: dict[str, Array] | None = None
    ) -> tuple[Array, Array]:
        """ĉ = σ g(θ_t, X_t / s) with the units s and σ, and the decision for it."""
        scaled = state.units.with_features(X).scale_features(X)
        prediction, explored = self.learner.act(state.learner, scaled, draws)
        prediction = state.units.cost * prediction
        return prediction, explored if draws else self.problem.decide(prediction)

    def oracle_call(
        self, state: InUnitsState, X: Array, costs: Array, draws: dict[str, Array]
    ) -> OracleCall | None:
        units = state.units.with_features(X).with_costs(costs)
        seen = units.scale_features(X), costs / units.cost
        return self.learner.oracle_call(state.learner, *seen, draws)

    def update(
        self, state: InUnitsState, X: Array, costs: Array, draws: dict[str, Array]
    ) -> InUnitsState:
        """The learner learns from X_t / s and c_t / σ."""
        units = state.units.with_features(X).with_costs(costs)
        seen = units.scale_features(X), costs / units.cost
        learner = self.learner.update(state.learner, *seen, draws)
        return InUnitsState(state.t + 1, learner.theta, units, learner)

    def takes_feedback(self, kind: str) -> bool:
        return self.learner.takes_feedback(kind)

    def memo(self, state: InUnitsState, X: Array, draws: dict[str, Array] | None) -> Array:
        scaled = state.units.with_features(X).scale_features(X)
        return self.learner.memo(state.learner, scaled, draws)

    def learn(self, state: InUnitsState, seen: Seen, draws: dict[str, Array]) -> InUnitsState:
        """Learns from scaled feedback; with bandit feedback the unit of costs is that of the cost paid."""
        costs = seen.paid[:, None] if seen.kind == "bandit" else seen.costs
        units = state.units.with_features(seen.X).with_costs(costs)
        scaled = seen._replace(
            X=units.scale_features(seen.X),
            costs=seen.costs / units.cost,
            paid=seen.paid / units.cost[:, 0],
        )
        learner = self.learner.learn(state.learner, scaled, draws)
        return InUnitsState(state.t + 1, learner.theta, units, learner)


def in_units(algorithm: Any) -> Any:
    """The algorithm, in units if its constants have units and Θ or its steps depend on the data."""
    chosen = algorithm.problem.auto_radius or getattr(algorithm, "step", None) == "adaptive"
    if not (chosen and algorithm.needs_units):
        return algorithm
    return InUnits(problem=algorithm.problem, base=algorithm)


def unit_smoothing(problem: Problem) -> float:
    """α = 1/2n units: the predicted cost of a smoothed decision is then within half a unit of the least."""
    return 0.5 / problem.regularizer.suboptimality


def adaptive_rate(squares: Array) -> Array:
    """REACH / (Σ_{s≤t} ‖∇_s‖²)^{1/2}, the size of adaptive steps in one number, [S]."""
    return REACH / _root_mean(squares.sum(-1), array_namespace(squares).ones_like(squares[..., 0]))


@settings
class Stepper(Algorithm):
    """A gradient learner; `step`: by its own schedule, or by AdaGrad in units of the data.

    None is adaptive if theta_radius=auto, else scheduled.
    Duchi, Hazan & Singer, *Adaptive Subgradient Methods*, JMLR 12, 2011.
    """

    step: Literal["scheduled", "adaptive"] | None = None
    needs_units = True

    @property
    def adaptive(self) -> bool:
        """True if steps are AdaGrad's, so that η has no effect."""
        return self.step == "adaptive" or (self.step is None and self.problem.auto_radius)

    def no_squares(self, seeds: int) -> np.ndarray:
        """The sums of squares before round 1, [S, m] if steps are adaptive, else [S, 0]."""
        return np.zeros((seeds, self.problem.parameters if self.adaptive else 0))

    def descend(
        self, theta: Array, gradient: Array, eta: Array | float, squares: Array
    ) -> tuple[Array, Array]:
        """Π_Θ(θ − η ∇), or with REACH m^{−1/2} / (Σ_{s≤t} ∇_{s,j}²)^{1/2} in place of η, and these sums."""
        if self.adaptive:
            squares = squares + gradient**2
            ones = array_namespace(squares).ones_like(squares)
            moved = theta - REACH * theta.shape[-1] ** -0.5 * gradient / _root_mean(squares, ones)
        else:
            moved = theta - eta * gradient
        return self.problem.theta_set.project(moved), squares
