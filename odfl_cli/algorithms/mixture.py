"""Mixtures of the decisions of several algorithms that learn in parallel."""

from abc import abstractmethod
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from pydantic import ValidationError

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.algorithms.units import in_units
from odfl_cli.config.schema import refusal
from odfl_cli.core.arrays import Array, array_namespace, dot
from odfl_cli.core.errors import RoundError, RowError, UserError
from odfl_cli.core.settings import settings
from odfl_cli.core.streams import Draw
from odfl_cli.problem.problem import Problem


@settings
class Mixture(Algorithm):
    """Plays Σ_k p_k w_k, which lies in W and costs Σ_k p_k ℓ_k; learner k decides w_k and pays ℓ_k.

    Every learner learns from all rounds, with the draws that it has when it runs alone. A subclass
    defines the learners, their shares p, and how their costs change these. Predictions of different
    learners have different units, so that only those of one, the leader, are reported.
    """

    @cached_property
    @abstractmethod
    def learners(self) -> tuple[Algorithm, ...]:
        """The N algorithms."""

    @abstractmethod
    def shares(self, state: Any) -> Array:
        """p_k, [S, N]."""

    @abstractmethod
    def leader(self, state: Any) -> Array:
        """One for the learner whose θ and predictions are reported, else zero, [S, N]."""

    @abstractmethod
    def weigh(self, state: Any, paid: Array) -> Any:
        """The state, except `t`, `theta` and `states`, after a round in which the learners paid [S, N]."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the learners in messages."""
        return tuple(one.name for one in self.learners)

    @cached_property
    def sharing(self) -> tuple[bool, ...]:
        """Whether each learner uses the problem's predictor, [N]."""
        return tuple(one.problem.predictor is self.problem.predictor for one in self.learners)

    def draws(self) -> dict[str, Draw]:
        """The draws of the learners, as when they run alone."""
        return {
            f"{self.name}/{k}/{name}": spec._replace(stream=spec.stream or name)
            for k, one in enumerate(self.learners)
            for name, spec in one.draws().items()
        }

    def draws_of(self, k: int, draws: dict[str, Array]) -> dict[str, Array]:
        """The draws of learner k under its own names."""
        prefix = f"{self.name}/{k}/"
        return {
            name.removeprefix(prefix): x for name, x in draws.items() if name.startswith(prefix)
        }

    def begin_again(self, state: Any) -> Any:
        """The initial weights; learners that do not depend on T keep their states."""
        pairs = zip(self.learners, state.states, strict=True)
        states = tuple(one.begin_again(s) if one.uses_horizon else s for one, s in pairs)
        return self.with_states(self.init(len(state.theta), None), states)

    def decide(self, state: Any, X: Array) -> tuple[Array, Array]:
        """The leader's prediction and the mixture of all decisions, [S, d]."""
        predictions, decisions = self._votes(state, X)
        leader, shares = self.leader(state)[..., None], self.shares(state)[..., None]
        return (leader * predictions).sum(-2), (shares * decisions).sum(-2)

    def update(self, state: Any, X: Array, costs: Array, draws: dict[str, Array]) -> Any:
        """Reweights the learners by their costs and updates all of them."""
        paid = dot(self._votes(state, X)[1], costs[..., None, :])
        self._check(paid)
        states = tuple(
            one.update(inner, X, self._target_costs(one, X, costs), self.draws_of(k, draws))
            for k, (one, inner) in enumerate(zip(self.learners, state.states, strict=True))
        )
        state = self.weigh(state, paid)._replace(t=state.t + 1)
        return self.with_states(state, states)

    def _target_costs(self, learner: Algorithm, X: Array, costs: Array) -> Array:
        """The costs for a learner, transformed by its own target if it has one."""
        same = learner.problem.target == self.problem.target
        return costs if same else learner.problem.learning_target(costs, X)

    def weigh_block(
        self, state: Any, paid: np.ndarray
    ) -> tuple[Any, np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        """Plays a block of rounds in which the learners paid [S, B, N].

        Returns the state except `theta` and `states`, the shares [S, B, N], the number of the leader
        [S, B], and the notes, [S, B] each.
        """
        shares, leader = np.empty(paid.shape), np.empty(paid.shape[:2], dtype=np.int64)
        notes = {name: np.empty(paid.shape[:2]) for name in self.noted}
        for i in range(paid.shape[1]):
            shares[:, i] = self.shares(state)
            leader[:, i] = self.leader(state).argmax(-1)
            try:
                self._check(paid[:, i])
                state = self.weigh(state, paid[:, i])._replace(t=state.t + 1)
            except RowError as error:
                raise RoundError(i, error.row, str(error)) from error
            for name, values in notes.items():
                values[:, i] = getattr(state, name)
        return state, shares, leader, notes

    def with_states(self, state: Any, states: tuple[Any, ...]) -> Any:
        """The state with those of the learners and the leader's θ, or 0 if its predictor differs."""
        leader, theta = self.leader(state), 0.0 * state.theta
        for k, inner in enumerate(states):
            if self.sharing[k]:
                theta = theta + leader[..., k, None] * inner.theta
        return state._replace(states=states, theta=theta)

    def _votes(self, state: Any, X: Array) -> tuple[Array, Array]:
        """The predictions and decisions of all learners, [S, N, d] each."""
        pairs = zip(self.learners, state.states, strict=True)
        votes = zip(*(one.decide(inner, X) for one, inner in pairs), strict=True)
        predictions, decisions = (array_namespace(X).stack(vote, axis=1) for vote in votes)
        return predictions, decisions

    def _check(self, paid: Array) -> None:
        """Raises a RowError if a cost of a learner, [S, N], is not finite."""
        xp = array_namespace(paid)
        wrong = ~xp.isfinite(paid)
        if bool(xp.any(wrong)):
            row, k = (int(index[0]) for index in xp.nonzero(wrong))
            pays = f"{self.labels[k]} pays {float(paid[row, k])}"
            raise RowError(row, paid.shape[0], f"algo={self.name}: {pays}, which cannot be weighed")


def build_learner(part: Any, key: str, problem: Problem, **settings: Any) -> Any:
    """The algorithm of the setting `key` with further settings, in units of the data if it needs them."""
    return in_units(build(part, key, problem=problem, **settings))


def take_problem_settings(part: partial[Any], problem: Problem) -> tuple[Any, Problem]:
    """The part without the keys `target` and `oracle`, and the problem with their values."""
    keywords = dict(part.keywords)
    target, oracle = keywords.pop("target", problem.target), keywords.pop("oracle", {})
    changed = replace(problem, target=target, oracle=replace(problem.oracle, **oracle))
    same = target == problem.target and not oracle
    return partial(part.func, *part.args, **keywords), problem if same else changed


def build(part: Any, key: str, **given: Any) -> Any:
    """The object of the setting `key`; raises a UserError that names the key."""
    if not callable(part):
        group = "predictor" if ".predictors." in key else "algo"
        raise UserError(f"{key}={part}: choose a file of the group {group}, as {group}@{key}=NAME")
    try:
        if "problem" in given and isinstance(part, partial):
            part, given["problem"] = take_problem_settings(part, given["problem"])
        return part(**given)
    except ValidationError as error:
        raise refusal(error, key) from error
