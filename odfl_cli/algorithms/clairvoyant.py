"""The lower floor: knows the parameter behind the costs."""

import numpy as np

from odfl_cli.algorithms.base import Algorithm, State
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import settings


@settings
class Clairvoyant(Algorithm):
    """Plays Π_Θ(θ*), the environment's own mean parameter, every round."""

    name = "clairvoyant"

    def init(self, seeds: int, truth: np.ndarray | None) -> State:
        """θ_t = Π_Θ(θ*) for all t."""
        if truth is None or truth.shape[-1] != self.problem.parameters:
            raise UserError(
                "algo=clairvoyant needs data with a known parameter of the predictor's size; "
                "choose data=sin4 with predictor=linear"
            )
        return State(t=0, theta=self.problem.theta_set.project(truth))
