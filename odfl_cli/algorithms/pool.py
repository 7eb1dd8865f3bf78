"""A pool of step sizes: one learner with a geometric grid of constants, weighted as by `vote`.

Zhang, Lu & Zhou, *Adaptive Online Learning in Dynamic Environments* (Ader), NeurIPS 2018, with
AdaNormalHedge instead of exponential weights, so that costs may have any range.
"""

from functools import cached_property, partial
from typing import Annotated, Any

from pydantic import Field

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.algorithms.mixture import build_learner
from odfl_cli.algorithms.vote import Vote, find_part
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import Positive, settings

CONSTANTS = ("c_eta", "eta", "c_alpha")
"""The constant that is multiplied by the factors is the first of these that the learner has."""


@settings
class Pool(Vote):
    """Plays a mixture of copies of `learner`, with its step size times `factors`.

    Steps are scheduled, in units of the data if theta_radius=auto. `certificate` bounds the regret
    to every copy, and so to the best of the grid.
    """

    experts: tuple[str, ...] = ()
    learner: str = "df_ogd"
    factors: Annotated[tuple[Positive, ...], Field(min_length=2)] = (0.01, 0.1, 1.0, 10.0, 100.0)
    name = "pool"

    @cached_property
    def learners(self) -> tuple[Algorithm, ...]:
        key, part = f"algo.settings.{self.learner}", self._part
        return tuple(
            build_learner(partial(part, **self._steps(part, factor)), key, self.problem)
            for factor in self.factors
        )

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(
            f"{self.learner} with {self._constant} × {factor:g}" for factor in self.factors
        )

    @property
    def _part(self) -> Any:
        return find_part(self.settings, self.learner, "algo.settings", "algo.learner")

    @property
    def _constant(self) -> str:
        keywords = getattr(self._part, "keywords", {})
        found = next((name for name in CONSTANTS if name in keywords), None)
        if found is None:
            raise UserError(f"algo.learner={self.learner}: it has no step size")
        return found

    def _steps(self, part: Any, factor: float) -> dict[str, Any]:
        scheduled = {"step": "scheduled"} if "step" in part.keywords else {}
        return {self._constant: factor * part.keywords[self._constant], **scheduled}
