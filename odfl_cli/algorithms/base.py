"""The contract of an algorithm, and base classes."""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from pydantic import SkipValidation

from odfl_cli.core.arrays import Array
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import Positive, settings
from odfl_cli.core.streams import Draw, draw
from odfl_cli.feedback.base import FULL, Seen
from odfl_cli.problem.oracles.base import OracleCall, uniform_in_ball
from odfl_cli.problem.problem import Problem


class State(NamedTuple):
    """The state between rounds. The first axis of an array is the seeds S."""

    t: int  # rounds so far
    theta: Array  # θ_{t+1}, [S, m]


@settings
class Belief:
    """Errors in the sizes that the schedules of α and η use; nothing else is affected."""

    faces: Positive = 1.0  # the factor of n, which is ln d for the entropy


@settings
class Algorithm:
    """Frozen hyperparameters around three functions: init, decide, update.

    A subclass adds its hyperparameters as fields and overrides `update`. It declares its random
    draws in `draws` and receives them in `update`.
    """

    problem: SkipValidation[Problem]
    name: ClassVar[str] = "algorithm"
    kernel: ClassVar[str | None] = None
    """The module in odfl_cli.engine.kernels with its compiled version; not inherited by subclasses."""
    takes_offers: ClassVar[bool] = False
    """Whether it can play rounds that do not offer every item: X has NaN there, costs have 0."""
    needs_units: ClassVar[bool] = False
    """Whether its constants have units: it then learns in those of the data if Θ or its steps adapt."""
    explores: ClassVar[bool] = False
    """Whether `decide` takes the draws of the round as a third argument; without them it does not explore."""
    sees: ClassVar[tuple[str, ...]] = ("full",)
    """The kinds of feedback that it can learn from; for kinds other than full it overrides `learn`."""
    noted: ClassVar[tuple[str, ...]] = ()
    """Fields [S] of the state that are recorded after every round."""
    needs_horizon: ClassVar[bool] = False
    """Whether its own numbers depend on T."""
    reported: ClassVar[tuple[str, ...]] = ()
    """The names in `noted` that are columns of every run with any metrics."""

    @property
    def theorem(self) -> int | None:
        """The number of the paper's theorem that bounds its regret, or None."""
        return None

    @property
    def learners(self) -> tuple["Algorithm", ...]:
        """The algorithms inside this one that learn from every round, whatever it plays."""
        return ()

    @property
    def uses_horizon(self) -> bool:
        """True if its numbers, or those of its learners, depend on T."""
        return self.needs_horizon or any(one.uses_horizon for one in self.learners)

    def draws(self) -> dict[str, Draw]:
        """The randomness of one round by the name under which `update` receives it."""
        return {}

    def init(self, seeds: int, truth: np.ndarray | None) -> Any:
        """The state before round 1, θ_1 = 0. `truth` is θ* [S, p]: for clairvoyants only."""
        return State(t=0, theta=np.zeros((seeds, self.problem.parameters)))

    def begin_again(self, state: Any) -> Any:
        """The state before round 1, but with the θ of `state`."""
        return self.init(len(state.theta), None)._replace(theta=state.theta)

    def decide(self, state: Any, X: Array) -> tuple[Array, Array]:
        """ĉ = g(θ_t, X_t) and argmin_{w∈W} ⟨ĉ, w⟩, or a decision within κ of it; both [S, d]."""
        prediction = self.problem.predictor.predict(state.theta, X)
        return prediction, self.problem.decide(prediction)

    def act(self, state: Any, X: Array, draws: dict[str, Array] | None) -> tuple[Array, Array]:
        """The result of `decide` for a round with these draws."""
        decide: Any = self.decide
        return decide(state, X, draws) if self.explores else decide(state, X)

    def memo(self, state: Any, X: Array, draws: dict[str, Array] | None) -> Array:
        """Numbers to remember until the costs of the round are seen, [S, k]; none by default."""
        return X.reshape(X.shape[0], -1)[:, :0]

    def takes_feedback(self, kind: str) -> bool:
        """True if it can learn from this kind of feedback."""
        return kind in self.sees

    def learn(self, state: Any, seen: Seen, draws: dict[str, Array]) -> Any:
        """The state after the feedback of a round."""
        return self.update(state, seen.X, seen.costs, draws)

    def oracle_call(
        self, state: Any, X: Array, costs: Array, draws: dict[str, Array]
    ) -> OracleCall | None:
        """The oracle call of `update` in this round; None without an oracle."""
        return None

    def update(self, state: Any, X: Array, costs: Array, draws: dict[str, Array]) -> Any:
        """The state after seeing the costs [S, d] of the round with features X [S, d, p]."""
        return state._replace(t=state.t + 1)


@settings
class PartialLearner(Algorithm):
    """An algorithm that defines `learn` for every kind of feedback."""

    def update(self, state: Any, X: Array, costs: Array, draws: dict[str, Array]) -> Any:
        w, memo = self.act(state, X, draws)[1], self.memo(state, X, draws)
        return self.learn(state, FULL.show(X, costs, w, memo, state.t + 1), draws)


@settings
class Wrapper(Algorithm):
    """An algorithm around `base` with the name and the constants of the base."""

    base: SkipValidation[Algorithm]

    def __post_init__(self) -> None:
        for attribute in ("name", "takes_offers", "explores", "noted", "reported"):
            object.__setattr__(self, attribute, getattr(self.base, attribute))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "base":
            raise AttributeError(name)
        return getattr(self.base, name)

    @property
    def uses_horizon(self) -> bool:
        return self.base.uses_horizon

    def draws(self) -> dict[str, Draw]:
        return self.base.draws()


def on_problem(algorithm: Any, problem: Problem) -> Any:
    """The algorithm with the same hyperparameters on `problem`."""
    return algorithm if problem is algorithm.problem else replace(algorithm, problem=problem)


def for_seeds(algorithm: Any, seeds: tuple[int, ...]) -> Any:
    """The algorithm on the problem of these seeds."""
    return on_problem(algorithm, algorithm.problem.for_seeds(seeds))


def start_draws(name: str, problem: Problem) -> dict[str, Draw]:
    """The draws for the oracle's random starting points and failures, if it has any."""
    oracle, drawn = problem.oracle, {}
    if oracle.restarts:
        drawn[f"{name}/starts"] = Draw("normal", (oracle.restarts, problem.parameters + 2))
    if oracle.failure:
        drawn[f"{name}/failure"] = Draw("uniform")
    return drawn


def start_points(name: str, problem: Problem, draws: dict[str, Array]) -> Array | None:
    """The starting points, uniform in Θ, [S, restarts, m]."""
    normals = draws.get(f"{name}/starts")
    return None if normals is None else uniform_in_ball(normals, problem.theta_set.radius)


def failed_calls(name: str, problem: Problem, draws: dict[str, Array]) -> Array | None:
    """The seeds in which the oracle's call fails, [S]; None if calls cannot fail."""
    uniform = draws.get(f"{name}/failure")
    return None if uniform is None else uniform < problem.oracle.failure


def smoothing_draws(name: str, problem: Problem) -> dict[str, Draw]:
    """The regulariser's draws in a round, under the algorithm's name; empty for most."""
    spec = getattr(problem.regularizer, "draw", None)
    return {f"{name}/smoothing": spec} if spec else {}


def drawn_problem(name: str, problem: Problem, draws: dict[str, Array]) -> Problem:
    """The problem with the draws of the round for its regulariser."""
    return problem.with_draws(draws.get(f"{name}/smoothing"))


@settings
class LinearLearner(Algorithm):
    """An algorithm for predictors that are linear in θ; raises a UserError for others."""

    def __post_init__(self) -> None:
        _ = self.design

    @cached_property
    def design(self) -> Callable[[Array], Array]:
        """D with g(θ, X) = D(X) θ as a function of X, checked at a random point."""
        problem, predictor = self.problem, cast(Any, self.problem.predictor)
        design = getattr(predictor, "design", None)
        theta = draw((0,), "design/theta", Draw("normal", (problem.parameters,)))[0, 0]
        X = draw((0,), "design/x", Draw("normal", problem.shape))[0, 0]
        if not design or not np.allclose(predictor.predict(theta, X), design(X) @ theta, rtol=1e-9):
            given = getattr(predictor, "chosen_as", type(predictor).__name__)
            raise UserError(
                f"algo={self.name} needs a predictor that is linear in θ, and {given} is not; "
                "choose predictor=linear, affine, per_item or quadratic"
            )
        return design
