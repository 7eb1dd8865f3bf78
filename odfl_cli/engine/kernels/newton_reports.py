"""What a kernel that smooths tells of Newton's method: steps a round, and where it failed."""

import numpy as np

from odfl_cli.core.errors import RoundError
from odfl_cli.engine.base import Trace
from odfl_cli.engine.kernels.smoothing import ALPHA, RESIDUAL
from odfl_cli.engine.notes import NEWTON_STEPS
from odfl_cli.problem.regularizers.log_barrier import failure


class NewtonReports:
    """Arrays for the kernels of a block to fill, seed by seed."""

    def __init__(self, trace: Trace) -> None:
        self._steps = trace.notes.get(NEWTON_STEPS, np.empty_like(trace.cost))
        self._reports = np.zeros((len(trace.cost), 3))

    def of(self, s: int) -> tuple[np.ndarray, np.ndarray]:
        """Steps of every round [B] and the report [3] of seed number s."""
        return self._steps[s], self._reports[s]

    def check(self, s: int, played: int) -> None:
        """A RoundError if seed number s is stuck after having played so many rounds."""
        report = self._reports[s]
        if report[ALPHA] > 0:
            raise RoundError(played, s, failure(report[RESIDUAL], report[ALPHA]))
