"""What the kernels of mixtures share: the learners' own kernels, seed by seed."""

from typing import Any

import numpy as np

from odfl_cli.algorithms.mixture import Mixture
from odfl_cli.core.errors import RoundError
from odfl_cli.engine.base import NEWTON_STEPS, Play, Trace
from odfl_cli.engine.compiled_engine import kernel_module
from odfl_cli.environments import Rounds


class SideBySide:
    """The learners of a mixture in a block of rounds; they do not depend on what it plays."""

    def __init__(
        self,
        mixture: Mixture,
        state: Any,
        rounds: Rounds,
        draws: dict[str, np.ndarray],
        trace: Trace,
    ) -> None:
        self._mixture, self._trace = mixture, trace
        self._plays: list[Play] = []
        self.traces, states = [], []
        for k, (one, inner) in enumerate(zip(mixture.learners, state.states, strict=True)):
            own = Trace.blank(one, *rounds.costs.shape[:2])
            after, play = kernel_module(one).prepare(one, inner, rounds, mixture.own(draws, k), own)
            self.traces.append(own)
            states.append(after)
            self._plays.append(play)
        self.states = tuple(states)

    def play(self, s: int) -> np.ndarray:
        """What the learners paid for seed number s, [B, N]; a RoundError where that is no number."""
        for play in self._plays:
            play(s)
        if NEWTON_STEPS in self._trace.notes:
            steps = [trace.notes[NEWTON_STEPS][s] for trace in self.traces]
            self._trace.notes[NEWTON_STEPS][s] = np.sum(steps, axis=0)
        paid = np.stack([trace.cost[s] for trace in self.traces], axis=-1)
        wrong = np.argwhere(~np.isfinite(paid))
        if len(wrong):
            i, k = (int(index) for index in wrong[0])
            raise RoundError(i, s, self._mixture.complaint(k, float(paid[i, k])))
        return paid

    def report(self, s: int, leader: np.ndarray) -> None:
        """The squared errors of the learner that leads in each round [B]."""
        errors = np.stack([trace.mse[s] for trace in self.traces])
        self._trace.mse[s] = errors[leader, np.arange(len(leader))]
