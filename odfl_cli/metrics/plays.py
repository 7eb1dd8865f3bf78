"""What an algorithm played at the evaluation rounds, kept to be played again on other rounds."""

from typing import Any

import numpy as np

from odfl_cli.algorithms import Algorithm
from odfl_cli.core.arrays import dot
from odfl_cli.environments import Rounds
from odfl_cli.metrics.losses import Losses


class Plays:
    """θ_t of every evaluation round; the whole state where an algorithm decides in its own way."""

    def __init__(self, algorithm: Algorithm) -> None:
        kappa = algorithm.problem.solver.kappa
        self._plain = type(algorithm).decide is Algorithm.decide and kappa == 0.0
        self._algorithm = algorithm
        self._states: list[Any] = []
        self._thetas: list[np.ndarray] = []

    def add(self, state: Any) -> None:
        """The state before an evaluation round."""
        self._thetas.append(np.array(state.theta))
        self._states.append(None if self._plain else state)

    def thetas(self) -> np.ndarray:
        """[S, E, m]."""
        return np.stack(self._thetas, axis=1)

    def paid(self, losses: Losses, seed: int, part: slice, rounds: Rounds) -> np.ndarray:
        """The costs of seed number `seed` had it met `rounds` at each evaluation round, [E, N]."""
        if self._plain:
            return losses.paid(np.stack([theta[seed] for theta in self._thetas[part]]), rounds)
        return np.stack([self._decided(state, seed, rounds) for state in self._states[part]])

    def _decided(self, state: Any, seed: int, rounds: Rounds) -> np.ndarray:
        """Every round is decided as though it were met by a seed of its own."""
        size = len(rounds.costs)
        many = type(state)(
            *(
                np.broadcast_to(x[seed], (size, *x.shape[1:])) if isinstance(x, np.ndarray) else x
                for x in state
            )
        )
        return dot(rounds.costs, self._algorithm.decide(many, rounds.X)[1])
