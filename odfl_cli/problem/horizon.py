"""How long a run is, and which of its rounds are logged."""

from typing import Annotated

import numpy as np
from pydantic import Field

from odfl_cli.core.settings import Integer, settings


@settings
class Horizon:
    """T rounds, at most about `rows` of them logged."""

    rounds: Annotated[Integer, Field(ge=1, le=10**9)]
    rows: Annotated[Integer, Field(ge=2)] = 500

    def logged(self) -> np.ndarray:
        """Rounds in the CSV, from 1: all of a short run, else half evenly and half log-spaced."""
        if self.rounds <= self.rows:
            return np.arange(1, self.rounds + 1)
        even = np.linspace(1, self.rounds, -(-self.rows // 2))
        early = np.geomspace(1, self.rounds, self.rows // 2)
        return np.unique(np.concatenate([even, early, [self.rounds]]).round().astype(np.int64))
