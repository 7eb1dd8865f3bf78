"""Several descents at once; the lowest end wins."""

from typing import Annotated, Literal

from pydantic import Field

from odfl_cli.core.arrays import Array, array_namespace
from odfl_cli.core.settings import Integer, settings
from odfl_cli.problem.ball import Ball
from odfl_cli.problem.oracles.adam import Adam
from odfl_cli.problem.oracles.base import Objective
from odfl_cli.problem.oracles.descent import Descent
from odfl_cli.problem.oracles.lbfgs import LBFGS
from odfl_cli.problem.oracles.sgd import SGD
from odfl_cli.problem.oracles.starting_points import best_of


@settings
class MultiStart(Descent):
    """Descends by `rule` from the warm start and from `starts` random points of Θ.

    The ends are scored by the objective's value; of a sum of losses that is the whole history,
    so a call costs as much as there are rounds in it.
    """

    starts: Annotated[Integer, Field(ge=0)] = 4
    rule: Literal["sgd", "adam", "lbfgs"] = "sgd"

    @property
    def restarts(self) -> int:
        """As many as `starts` says."""
        return self.starts

    def minimise(
        self,
        objective: Objective,
        theta_set: Ball,
        start: Array,
        samples: Array | None,
        points: Array | None = None,
    ) -> Array:
        """The best end of all descents; without `points` that of the warm start."""
        xp = array_namespace(start)
        starts = start[None]
        if points is not None:
            starts = xp.concat([starts, xp.moveaxis(points, 1, 0)])
        ends = self._descent().minimise(objective, theta_set, starts, samples)
        return best_of(ends, objective.value(ends))

    def _descent(self) -> SGD | Adam | LBFGS:
        if self.rule == "lbfgs":
            return LBFGS(steps=self.steps, lr=self.lr)
        kind = SGD if self.rule == "sgd" else Adam
        return kind(steps=self.steps, lr=self.lr, batch=self.batch)
