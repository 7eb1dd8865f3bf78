"""Simulators: environments that respond to decisions, played round by round."""

from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.core.arrays import dot
from odfl_cli.core.errors import RoundError, RowError, UserError
from odfl_cli.engine.base import Draws, Engine, Trace
from odfl_cli.environments.base import Rounds


class Simulator(Protocol):
    """Rounds that may depend on earlier decisions.

    Every seed has a copy of the object; `reset(seed)`, if it has one, is called before round 0.
    """

    def observe(self, t: int) -> Any:
        """X of round t, counted from 0, [d, p]."""

    def respond(self, t: int, w: np.ndarray) -> Any:
        """The costs of round t after the decision w [d], [d]."""


@dataclass(frozen=True)
class ClosedLoop:
    """A simulator as an environment, whose rounds exist only after they are played."""

    simulator: Any

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of X in round 0."""
        return np.shape(self._copy(0).observe(0))

    @property
    def items(self) -> int:
        """d: the simulator's `items`, or the rows of X."""
        return getattr(self.simulator, "items", None) or self.shape[0]

    @property
    def features(self) -> int:
        return self.shape[-1]

    def theta_star(self, seeds: tuple[int, ...]) -> None:
        """Unknown."""

    def blank(self, seeds: tuple[int, ...], start: int, stop: int) -> Rounds:
        """Arrays for rounds start ≤ t < stop, which `LoopEngine` fills."""
        lead = len(seeds), stop - start
        return Rounds(np.zeros((*lead, *self.shape)), np.zeros((*lead, self.items)))

    def rounds(self, seeds: tuple[int, ...], start: int, stop: int) -> Rounds:
        """Raises a UserError: rounds depend on earlier decisions."""
        raise UserError(
            "data: rounds that depend on decisions cannot be drawn again; choose metrics=basic"
        )

    def start(self, seeds: tuple[int, ...]) -> list[Any]:
        """The simulator of every seed, before round 0."""
        return [self._copy(seed) for seed in seeds]

    def _copy(self, seed: int) -> Any:
        simulator = deepcopy(self.simulator)
        if hasattr(simulator, "reset"):
            simulator.reset(seed)
        return simulator


@dataclass(frozen=True)
class LoopEngine(Engine):
    """Plays round by round: observe, decide, respond; then `engine` learns from the round."""

    engine: Engine
    simulators: list[Any]  # by seed

    @property
    def name(self) -> str:
        return self.engine.name

    def start(self, algorithm: Algorithm) -> None:
        self.engine.start(algorithm)

    def play(self, algorithm: Any, state: Any, rounds: Rounds, draws: Draws) -> tuple[Any, Trace]:
        traces = []
        for i in range(rounds.costs.shape[1]):
            one = slice(i, i + 1)
            X, costs = rounds.X[:, one], rounds.costs[:, one]
            t, drawn = state.t, {name: values[:, one] for name, values in draws.items()}
            try:
                for row, simulator in enumerate(self.simulators):
                    X[row, 0] = _numbers(simulator.observe(t), X.shape[2:], "observe")
                now = {name: values[:, 0] for name, values in drawn.items()}
                _, decisions = algorithm.act(state, X[:, 0], now)
                for row, simulator in enumerate(self.simulators):
                    answer = simulator.respond(t, decisions[row].copy())
                    costs[row, 0] = _numbers(answer, costs.shape[2:], "respond")
                state, trace = self.engine.advance(algorithm, state, Rounds(X, costs), drawn)
            except RowError as error:
                raise RoundError(i, error.row, str(error)) from error
            except RoundError as error:
                raise RoundError(i, error.seed_index, str(error)) from error
            paid = dot(costs[:, 0], decisions)[:, None]
            traces.append(trace._replace(cost=paid, decision=decisions[:, None]))
        return state, Trace.join(traces, axis=1)


def close_loop(part: Any) -> Any:
    """The environment of a simulator; any other part unchanged."""
    return ClosedLoop(part) if hasattr(part, "respond") and not hasattr(part, "rounds") else part


def _numbers(values: Any, shape: tuple[int, ...], method: str) -> np.ndarray:
    """The result of a simulator's method; raises a UserError if it is not finite or has another shape."""
    found = np.asarray(values, dtype=np.float64)
    if found.shape != shape or not np.isfinite(found).all():
        raise UserError(
            f"data: {method}() gave {found.shape}, and finite numbers {shape} are needed"
        )
    return found
