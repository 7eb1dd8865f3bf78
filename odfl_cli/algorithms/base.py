"""The contract of an algorithm, and the play that all of them share."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from pydantic import SkipValidation

from odfl_cli.core.arrays import Array
from odfl_cli.core.settings import settings
from odfl_cli.core.streams import Draw
from odfl_cli.problem.oracles import uniform_in_ball
from odfl_cli.problem.problem import Problem


class State(NamedTuple):
    """The least an algorithm remembers. Arrays lead with the seeds S, so runs can be continued."""

    t: int  # rounds learnt from
    theta: Array  # θ_{t+1}, [S, m]


class OracleCall(NamedTuple):
    """What an algorithm asks of its oracle in one round."""

    objective: Any  # SmoothedCost or PerturbedLeader
    start: Array  # [S, m]
    samples: Array | None
    points: Array | None  # [S, restarts, m]

    def answer(self, problem: Problem) -> Array:
        """O_ξ(objective), [S, m]."""
        return problem.oracle.minimise(
            self.objective, problem.theta_set, self.start, self.samples, self.points
        )


@settings
class Algorithm:
    """Frozen hyperparameters around three functions: init, decide, update.

    A subclass adds its hyperparameters as fields and overrides `update`; whatever it draws at
    random it declares in `draws` and receives, drawn, in `update`.
    """

    problem: SkipValidation[Problem]
    name: ClassVar[str] = "algorithm"
    noted: ClassVar[tuple[str, ...]] = ()
    """Fields [S] of the state that are written down after every round."""

    def draws(self) -> dict[str, Draw]:
        """The randomness of one round by the name under which `update` receives it."""
        return {}

    def init(self, seeds: int, truth: np.ndarray | None) -> Any:
        """The state before round 1, θ_1 = 0. `truth` is θ* [S, p]: for clairvoyants only."""
        return State(t=0, theta=np.zeros((seeds, self.problem.parameters)))

    def decide(self, state: Any, X: Array) -> tuple[Array, Array]:
        """ĉ = g(θ_t, X_t) and argmin_{w∈W} ⟨ĉ, w⟩, or a decision within the solver's κ; both [S, d]."""
        prediction = self.problem.predictor.predict(state.theta, X)
        return prediction, self.problem.solver.decide(self.problem.polytope, prediction)

    def oracle_call(
        self, state: Any, X: Array, costs: Array, draws: dict[str, Array]
    ) -> OracleCall | None:
        """What `update` asks of the oracle in this round; most algorithms have none."""
        return None

    def update(self, state: Any, X: Array, costs: Array, draws: dict[str, Array]) -> Any:
        """The state after seeing the costs [S, d] of the round with features X [S, d, p]."""
        return state._replace(t=state.t + 1)


def start_draws(name: str, problem: Problem) -> dict[str, Draw]:
    """The draws that become random starting points of the oracle, if it wants any."""
    restarts = problem.oracle.restarts
    if not restarts:
        return {}
    return {f"{name}/starts": Draw("normal", (restarts, problem.parameters + 2))}


def start_points(name: str, problem: Problem, draws: dict[str, Array]) -> Array | None:
    """Those points, uniform in Θ, [S, restarts, m]."""
    normals = draws.get(f"{name}/starts")
    return None if normals is None else uniform_in_ball(normals, problem.theta_set.radius)
