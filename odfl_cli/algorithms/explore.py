"""Learners that explore: some decisions are drawn at random.

A random decision is uniform over v_1, …, v_d, where v_j is the best decision if item j costs −1 and
the others 0: on the simplex the items, on other sets decisions that together use every usable item.
The probability of every decision is then known exactly.
"""

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from pydantic import Field, SkipValidation

from odfl_cli.algorithms.base import Algorithm, PartialLearner
from odfl_cli.algorithms.mixture import build_learner
from odfl_cli.core.arrays import Array, array_namespace, dot, like
from odfl_cli.core.settings import NonNegative, Positive, PositiveInt, Real, settings
from odfl_cli.core.streams import Draw
from odfl_cli.feedback.base import Seen
from odfl_cli.problem.polytopes.linear import is_simplex


class ExplorerState(NamedTuple):
    """The learner's state, and notes on the last round that was seen."""

    t: int
    theta: Array  # [S, m]
    learner: Any
    propensity: Array  # the probability of the decision, [S]
    estimate_square: Array  # ‖ĉ‖² of the estimated costs: on average ‖c‖² and their variance, [S]


@settings
class Explorer(PartialLearner):
    """Plays the decision of `base`, or with probability `chance` a random one."""

    base: SkipValidation[Callable[..., Algorithm]]
    explores = True
    noted: ClassVar[tuple[str, ...]] = ("propensity",)
    reported = noted

    def __post_init__(self) -> None:
        _ = self.learner  # raises now if the learner does not fit the problem

    @abstractmethod
    def chance(self, t: int) -> float:
        """The probability of a random decision in round t."""

    @cached_property
    def learner(self) -> Algorithm:
        """The algorithm that learns."""
        return build_learner(self.base, "algo.base", self.problem)

    @cached_property
    def cover(self) -> np.ndarray:
        """The random decisions v_j, [d, d]."""
        return self.problem.polytope.minimise(-np.eye(self.problem.items))

    @property
    def uses_horizon(self) -> bool:
        return self.learner.uses_horizon

    def takes_feedback(self, kind: str) -> bool:
        return self.learner.takes_feedback(kind)

    def draws(self) -> dict[str, Draw]:
        return {f"{self.name}/explore": Draw("uniform"), **self.learner.draws()}

    def init(self, seeds: int, truth: np.ndarray | None) -> ExplorerState:
        state = self.learner.init(seeds, truth)
        return ExplorerState(0, state.theta, state, np.ones(seeds), np.zeros(seeds))

    def decide(
        self, state: ExplorerState, X: Array, draws: dict[str, Array] | None = None
    ) -> tuple[Array, Array]:
        prediction, best = self.learner.decide(state.learner, X)
        chance = self.chance(state.t + 1)
        if draws is None or chance == 0.0:
            return prediction, best
        xp, u = array_namespace(X), draws[f"{self.name}/explore"]
        d = self.problem.items
        number = xp.clip(xp.astype(xp.clip(u / chance, max=1.0) * d, xp.int64), max=d - 1)
        return prediction, xp.where((u < chance)[:, None], like(X, self.cover)[number], best)

    def memo(self, state: ExplorerState, X: Array, draws: dict[str, Array] | None) -> Array:
        """The learner's decision and the chance of a random one, [S, d + 1]."""
        best = self.learner.decide(state.learner, X)[1]
        xp, chance = array_namespace(X), self.chance(state.t + 1)
        return xp.concat([best, xp.full_like(best[:, :1], chance)], axis=1)

    def chances(self, seen: Seen) -> tuple[Array, Array]:
        """The possible decisions of the round, [S, 1 + d, d], and their probabilities, [S, 1 + d]."""
        xp, best, chance = array_namespace(seen.X), seen.memo[:, :-1], seen.memo[:, -1:]
        cover = like(seen.w, self.cover) + xp.zeros_like(seen.w)[:, None, :]
        each = chance / self.problem.items + xp.zeros_like(seen.w)
        decisions = xp.concat([best[:, None, :], cover], axis=1)
        return decisions, xp.concat([1.0 - chance, each], axis=1)

    def learn(self, state: ExplorerState, seen: Seen, draws: dict[str, Array]) -> ExplorerState:
        learner = self.learner.learn(state.learner, seen, draws)
        return self.after(state, learner, self.propensity(seen))

    def propensity(self, seen: Seen) -> Array:
        """The probability of the decision, [S]."""
        xp, (decisions, shares) = array_namespace(seen.X), self.chances(seen)
        same = xp.all(decisions == seen.w[:, None, :], axis=-1)
        return dot(xp.astype(same, shares.dtype), shares)

    def after(self, state: ExplorerState, learner: Any, propensity: Array) -> ExplorerState:
        """The state after a round, given the new state of the learner."""
        square = state.estimate_square
        return ExplorerState(state.t + 1, learner.theta, learner, propensity, square)


@settings
class EpsilonGreedy(Explorer):
    """Explores with probability min(1, epsilon · t^(−power)) after the costs of t − 1 rounds were seen.

    Auer, Cesa-Bianchi & Fischer, *Finite-time Analysis of the Multiarmed Bandit Problem*, Machine
    Learning 47, 2002.
    """

    epsilon: Positive = 1.0
    power: NonNegative = 6.0
    name = "epsilon_greedy"

    def chance(self, t: int) -> float:
        return min(1.0, self.epsilon * t**-self.power)


@settings
class ExploreThenCommit(Explorer):
    """Explores until the costs of `explore` rounds were seen, then plays without learning more.

    Robbins, *Some Aspects of the Sequential Design of Experiments*, Bulletin of the AMS 58, 1952.
    """

    explore: PositiveInt = 50
    name = "explore_then_commit"

    def chance(self, t: int) -> float:
        return float(t <= self.explore)

    def learn(self, state: ExplorerState, seen: Seen, draws: dict[str, Array]) -> ExplorerState:
        if float(seen.memo[0, -1]):  # the decision was random
            return Explorer.learn(self, state, seen, draws)
        return self.after(state, state.learner, 1.0 + 0.0 * state.propensity)


@settings
class Weighted(Explorer):
    """A learner that needs all costs, on unbiased estimates; explores with probability `explore`.

    With P_i the probability that item i is played, ĉ_i = c_i/P_i for played items, else 0.
    If only ⟨c, w⟩ is seen and W is not the simplex, ĉ = ⟨c, w⟩ E[wwᵀ]⁺ w, unbiased for the
    costs of all possible decisions: Cesa-Bianchi & Lugosi, *Combinatorial Bandits*, JCSS 78, 2012.
    """

    explore: Annotated[Real, Field(gt=0, le=1)] = 0.003
    name = "weighted"
    noted = ("propensity", "estimate_square")
    reported = noted

    def chance(self, t: int) -> float:
        return self.explore

    def takes_feedback(self, kind: str) -> bool:
        return True

    def learn(self, state: ExplorerState, seen: Seen, draws: dict[str, Array]) -> ExplorerState:
        costs = self.estimate(seen)
        learner = self.learner.update(state.learner, seen.X, costs, draws)
        after = self.after(state, learner, self.propensity(seen))
        return after._replace(estimate_square=dot(costs, costs))

    def estimate(self, seen: Seen) -> Array:
        """ĉ, [S, d]."""
        xp, (decisions, shares) = array_namespace(seen.X), self.chances(seen)
        costs, one = seen.costs, is_simplex(self.problem.polytope)
        if seen.kind == "full":
            return costs
        if one:
            costs = xp.where(seen.w != 0, seen.paid[:, None], costs)
        elif seen.kind == "bandit":
            second = (decisions[..., None] * decisions[..., None, :] * shares[..., None, None]).sum(
                1
            )
            inverse = xp.linalg.pinv(second)
            return seen.paid[:, None] * dot(inverse, seen.w[:, None, :])
        used = xp.astype(decisions != 0, shares.dtype)
        chance = (used * shares[..., None]).sum(1)
        known = (seen.w != 0) & ~xp.isnan(costs)
        return xp.where(known, costs / xp.where(known, chance, 1.0), xp.zeros_like(costs))
