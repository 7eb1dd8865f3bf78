"""Oracles that take stochastic gradient steps: SGD, as in the paper, Adam, and several starts."""

from typing import Annotated, Any, Literal

from pydantic import Field

from odfl_cli.core.arrays import Array, array_namespace
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import Integer, Positive, PositiveInt, Real, settings
from odfl_cli.problem.oracles.base import Oracle, OracleCall, best_of
from odfl_cli.problem.oracles.lbfgs import LBFGS

Decay = Annotated[Real, Field(ge=0, lt=1)]


@settings
class Descent(Oracle):
    """`steps` steps of scale `lr`; a sum of losses is sampled with `batch` terms per step."""

    steps: PositiveInt = 10
    lr: Positive = 0.01
    batch: PositiveInt = 8

    @property
    def sample_shape(self) -> tuple[int, ...]:
        return (self.steps, self.batch)


@settings
class SGD(Descent):
    """θ ← Π_Θ(θ − lr ∇f(θ)), `steps` times."""

    kernel = "sgd"

    def minimise(self, call: OracleCall) -> Array:
        theta = call.start
        for step in range(self.steps):
            theta = call.theta_set.project(theta - self.lr * call.gradient(theta, step))
        return theta


@settings
class Adam(Descent):
    """θ ← Π_Θ(θ − lr m̂ / (√v̂ + ε)): steps of about `lr` per coordinate for gradients of any size.

    Kingma & Ba, *Adam*, ICLR 2015, with a projection after every step. m̂ and v̂ are the
    bias-corrected means of the gradient and of its mean square over the coordinates, reset in every
    call. One v̂ serves all coordinates: with one for each, steps that are projected in the Euclidean
    norm converge to a point other than the minimiser over Θ.
    """

    beta1: Decay = 0.9
    beta2: Decay = 0.999
    epsilon: Positive = 1e-8

    def minimise(self, call: OracleCall) -> Array:
        xp, theta = array_namespace(call.start), call.start
        first, second = xp.zeros_like(theta), xp.zeros_like(theta[..., :1])
        for step in range(self.steps):
            gradient = call.gradient(theta, step)
            first = self.beta1 * first + (1.0 - self.beta1) * gradient
            second = self.beta2 * second + (1.0 - self.beta2) * (gradient**2).mean(-1)[..., None]
            mean = first / (1.0 - self.beta1 ** (step + 1))
            square = second / (1.0 - self.beta2 ** (step + 1))
            move = self.lr * mean / (xp.sqrt(square) + self.epsilon)
            theta = call.theta_set.project(theta - move)
        return theta


RULES: dict[str, type[Any]] = {"sgd": SGD, "adam": Adam, "lbfgs": LBFGS}


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
        return self.starts

    def minimise(self, call: OracleCall) -> Array:
        xp = array_namespace(call.start)
        starts = call.start[None]
        if call.points is not None:
            starts = xp.concat([starts, xp.moveaxis(call.points, 1, 0)])
        elif self.starts:
            raise UserError(
                f"oracle.starts={self.starts}: the algorithm calls its oracle without points to "
                "start from; see start_points in docs/your-parts.md, or choose oracle=sgd"
            )
        batch = {} if self.rule == "lbfgs" else {"batch": self.batch}
        rule = RULES[self.rule](steps=self.steps, lr=self.lr, **batch)
        ends = rule.minimise(call._replace(start=starts))
        return best_of(ends, call.objective.value(ends))
