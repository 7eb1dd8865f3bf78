"""What a kernel that smooths tells of Newton's method: steps a round, and where it failed."""

import numpy as np

from odfl_cli.engine.base import Trace
from odfl_cli.engine.notes import NEWTON_STEPS
from odfl_cli.errors import RoundError
from odfl_cli.regularizers.log_barrier import failure


class NewtonReport:
    """Arrays for the kernels of a block to fill, seed by seed."""

    def __init__(self, trace: Trace) -> None:
        self._steps = trace.notes.get(NEWTON_STEPS, np.empty_like(trace.cost))
        self._stuck = np.zeros((len(trace.cost), 2))

    def of(self, s: int) -> tuple[np.ndarray, np.ndarray]:
        """Steps of every round [B], and residual and α of the failure [2], of seed number s."""
        return self._steps[s], self._stuck[s]

    def check(self, s: int, played: int) -> None:
        """A RoundError if seed number s is stuck after having played so many rounds."""
        residual, alpha = self._stuck[s]
        if alpha > 0:
            raise RoundError(played, s, failure(residual, alpha))
