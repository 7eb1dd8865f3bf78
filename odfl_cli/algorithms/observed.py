"""An algorithm with partial or delayed feedback."""

from typing import Any, NamedTuple

import numpy as np
from pydantic import SkipValidation

from odfl_cli.algorithms.base import Wrapper
from odfl_cli.core.arrays import Array, array_namespace
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import settings
from odfl_cli.feedback.base import Feedback, Seen

FITTING = "algo=rls, thompson, dfhpg, epsilon_greedy, explore_then_commit or weighted"


class ObservedState(NamedTuple):
    """The learner's state and the rounds whose costs it has not seen; round t at t mod (longest + 1)."""

    t: int
    theta: Array  # [S, m]
    learner: Any
    waiting: Array  # the number of rounds played whose costs were not seen, [S]
    queue: tuple[Array, ...]  # X, costs, paid, w and memo of these, [S, longest + 1, …] each

    def __getattr__(self, name: str) -> Any:
        """Fields of the learner's state."""
        return getattr(self.learner, name)


@settings
class Observed(Wrapper):
    """`base` with `feedback`. An update uses the draws of the round in which its costs arrive."""

    feedback: SkipValidation[Feedback]

    def __post_init__(self) -> None:
        Wrapper.__post_init__(self)
        for attribute in ("noted", "reported") if self.feedback.delay else ():
            object.__setattr__(self, attribute, (*getattr(self.base, attribute), "waiting"))

    def init(self, seeds: int, truth: np.ndarray | None) -> ObservedState:
        state, items = self.base.init(seeds, truth), (self.problem.items,)
        memo = self.base.memo(state, np.zeros((seeds, *self.problem.shape)), None)
        shapes = [self.problem.shape, items, (), items, memo.shape[1:]]
        queue = tuple(np.zeros((seeds, self.feedback.longest + 1, *shape)) for shape in shapes)
        return ObservedState(0, state.theta, state, np.zeros(seeds), queue)

    def decide(
        self, state: ObservedState, X: Array, draws: dict[str, Array] | None = None
    ) -> tuple[Array, Array]:
        return self.base.act(state.learner, X, draws)

    def update(
        self, state: ObservedState, X: Array, costs: Array, draws: dict[str, Array]
    ) -> ObservedState:
        """The base learns from the rounds whose costs arrive, oldest first."""
        t, learner, late = state.t + 1, state.learner, self.feedback.longest + 1
        xp = array_namespace(X)
        w, memo = self.decide(state, X, draws)[1], self.base.memo(learner, X, draws)
        seen = self.feedback.show(X, costs, w, memo, t)
        for values, kept in zip(seen[:5], state.queue, strict=True):
            kept[:, t % late] = values
        arrived = self.feedback.arrivals(t)
        for s in arrived:
            stored = (xp.asarray(kept[:, s % late], copy=True) for kept in state.queue)
            old = Seen._make([*stored, s, seen.kind, t - s])
            learner = self.base.learn(learner, old, draws)
        waiting = state.waiting + (1 - len(arrived))
        return ObservedState(t, learner.theta, learner, waiting, state.queue)


def observe(algorithm: Any, feedback: Feedback) -> Any:
    """The algorithm with this feedback, or itself if it is plain; raises a UserError if they do not fit."""
    if feedback.is_plain:
        return algorithm
    if feedback.delay >= algorithm.problem.rounds:
        raise UserError(
            f"feedback.delay={feedback.delay}: no cost arrives within "
            f"horizon.rounds={algorithm.problem.rounds}"
        )
    slope = np.arange(1.0, algorithm.problem.items + 1.0)
    used = algorithm.problem.polytope.minimise(np.stack([slope, -slope])) != 0
    if feedback.kind == "semi_bandit" and used.all():
        raise UserError(
            "feedback=semi_bandit: every decision uses all items; choose full or bandit"
        )
    if not algorithm.takes_feedback(feedback.kind):
        lacking = (
            "takes it on the simplex alone"
            if feedback.kind in algorithm.sees
            else "needs all costs"
        )
        raise UserError(
            f"feedback={feedback.kind}: algo={algorithm.name} {lacking}; choose {FITTING}"
        )
    return Observed(problem=algorithm.problem, base=algorithm, feedback=feedback)
