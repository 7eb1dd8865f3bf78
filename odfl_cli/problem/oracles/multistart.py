"""Several descents at once, of which the lowest end point is returned."""

from typing import Annotated, Literal

from pydantic import Field

from odfl_cli.core.arrays import Array, array_namespace
from odfl_cli.core.settings import Integer, settings
from odfl_cli.problem.oracles.base import OracleCall, best_of
from odfl_cli.problem.oracles.descent import SGD, Adam, Descent
from odfl_cli.problem.oracles.lbfgs import LBFGS


@settings
class MultiStart(Descent):
    """Descends by `rule` from the warm start and from `starts` random points of Θ.

    The end points are compared by the objective's value; a sum of losses is evaluated in full, so
    the time of a call grows with the rounds in the history.
    """

    starts: Annotated[Integer, Field(ge=0)] = 4
    rule: Literal["sgd", "adam", "lbfgs"] = "sgd"

    @property
    def restarts(self) -> int:
        """As many as `starts` says."""
        return self.starts

    def minimise(self, call: OracleCall) -> Array:
        """The best end point of all descents; without `call.points` that of the warm start."""
        xp = array_namespace(call.start)
        starts = call.start[None]
        if call.points is not None:
            starts = xp.concat([starts, xp.moveaxis(call.points, 1, 0)])
        ends = self._descent().minimise(call._replace(start=starts))
        return best_of(ends, call.objective.value(ends))

    def _descent(self) -> SGD | Adam | LBFGS:
        if self.rule == "lbfgs":
            return LBFGS(steps=self.steps, lr=self.lr)
        kind = SGD if self.rule == "sgd" else Adam
        return kind(steps=self.steps, lr=self.lr, batch=self.batch)
