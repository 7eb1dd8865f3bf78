"""The contract of an algorithm, and the decision that all of them share."""

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
from odfl_cli.problem.oracles import OracleCall, uniform_in_ball
from odfl_cli.problem.problem import Problem


class State(NamedTuple):
    """What every algorithm keeps between rounds. The first axis of an array is the seeds S."""

    t: int  # rounds so far
    theta: Array  # θ_{t+1}, [S, m]


@settings
class Belief:
    """Factors by which the schedules of α and η are wrong about the sizes they depend on.

    Nothing else is affected: a run still has T rounds and θ has m parameters.
    """

    horizon: Positive = 1.0  # of T
    parameters: Positive = 1.0  # of m
    faces: Positive = 1.0  # of n, which is ln d for the entropy


@settings
class Algorithm:
    """Frozen hyperparameters around three functions: init, decide, update.

    A subclass adds its hyperparameters as fields and overrides `update`; whatever it draws at
    random it declares in `draws` and receives, drawn, in `update`.
    """

    problem: SkipValidation[Problem]
    name: ClassVar[str] = "algorithm"
    kernel: ClassVar[str | None] = None
    """The module in odfl_cli.engine.kernels that computes the same; subclasses do not inherit it."""
    takes_offers: ClassVar[bool] = False
    """Whether it can play rounds that do not offer every item: X has NaN there, costs have 0."""
    noted: ClassVar[tuple[str, ...]] = ()
    """Fields [S] of the state that are recorded after every round."""
    reported: ClassVar[tuple[str, ...]] = ()
    """Those of `noted` that are columns of every run, whatever the metrics."""

    @property
    def theorem(self) -> int | None:
        """The number of the paper's theorem that bounds its regret, if one does."""
        return None

    @property
    def learners(self) -> tuple["Algorithm", ...]:
        """The algorithms that learn inside this one, from every round and whatever it plays."""
        return ()

    def draws(self) -> dict[str, Draw]:
        """The randomness of one round by the name under which `update` receives it."""
        return {}

    def init(self, seeds: int, truth: np.ndarray | None) -> Any:
        """The state before round 1, θ_1 = 0. `truth` is θ* [S, p]: for clairvoyants only."""
        return State(t=0, theta=np.zeros((seeds, self.problem.parameters)))

    def decide(self, state: Any, X: Array) -> tuple[Array, Array]:
        """ĉ = g(θ_t, X_t) and argmin_{w∈W} ⟨ĉ, w⟩, or a decision within κ of it; both [S, d]."""
        prediction = self.problem.predictor.predict(state.theta, X)
        return prediction, self.problem.decide(prediction)

    def oracle_call(
        self, state: Any, X: Array, costs: Array, draws: dict[str, Array]
    ) -> OracleCall | None:
        """The problem that `update` gives to the oracle in this round; None without an oracle."""
        return None

    def update(self, state: Any, X: Array, costs: Array, draws: dict[str, Array]) -> Any:
        """The state after seeing the costs [S, d] of the round with features X [S, d, p]."""
        return state._replace(t=state.t + 1)


def on_problem(algorithm: Any, problem: Problem) -> Any:
    """The algorithm with the same hyperparameters on `problem`."""
    return algorithm if problem is algorithm.problem else replace(algorithm, problem=problem)


def for_seeds(algorithm: Any, seeds: tuple[int, ...]) -> Any:
    """The algorithm on the problem of these seeds."""
    return on_problem(algorithm, algorithm.problem.for_seeds(seeds))


def start_draws(name: str, problem: Problem) -> dict[str, Draw]:
    """The draws behind the random starting points of the oracle, if it uses any."""
    restarts = problem.oracle.restarts
    if not restarts:
        return {}
    return {f"{name}/starts": Draw("normal", (restarts, problem.parameters + 2))}


def start_points(name: str, problem: Problem, draws: dict[str, Array]) -> Array | None:
    """The starting points, uniform in Θ, [S, restarts, m]."""
    normals = draws.get(f"{name}/starts")
    return None if normals is None else uniform_in_ball(normals, problem.theta_set.radius)


@settings
class LinearLearner(Algorithm):
    """An algorithm for predictors that are linear in θ alone; a UserError for others."""

    def __post_init__(self) -> None:
        _ = self.design

    @cached_property
    def design(self) -> Callable[[Array], Array]:
        """D with g(θ, X) = D(X) θ as a function of X.

        What the predictor offers is tried at a random point: a subclass may predict otherwise.
        """
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
