"""Limited-memory BFGS (Nocedal & Wright, Algorithm 7.4) along the projection onto Θ."""

from typing import NamedTuple

from odfl_cli.core.arrays import Array, array_namespace, dot
from odfl_cli.core.settings import Positive, PositiveInt, settings
from odfl_cli.problem.oracles.base import Oracle, OracleCall

ARMIJO, HALVINGS = 1e-4, 20
FLAT = 1e-14  # curvature and decrease below this share of their scale are rounding errors


class Pair(NamedTuple):
    """One step s and the change y of the gradient along it; `inverse` is 1/⟨s, y⟩, 0 if unused."""

    step: Array  # [..., m]
    change: Array  # [..., m]
    inverse: Array  # [...]


@settings
class LBFGS(Oracle):
    """θ ← Π_Θ(θ − λ H∇f(θ)) with H from the last `pairs` steps and λ halved until f decreases.

    If the projected step is not a descent direction, the gradient is used instead. A sum of losses
    is evaluated in full, so the time of a call grows with the rounds in the history. Every seed has
    its own λ and its own H; a seed that has converged no longer moves.
    """

    steps: PositiveInt = 10
    lr: Positive = 0.1
    pairs: PositiveInt = 8

    def minimise(self, call: OracleCall) -> Array:
        """At most `steps` steps from the warm start, each of which lowers the objective."""
        objective, theta = call.objective, call.start
        value = objective.value(theta)
        gradient = objective.gradient(theta, None)
        scale, done = self.lr + 0.0 * value, value != value
        pairs: list[Pair] = []
        for _ in range(self.steps):
            direction = _two_loops(pairs, scale, gradient)
            moved, lower, found = _search(call, theta, value, gradient, direction, scale, done)
            done = ~found
            if bool(done.all()):
                break
            slope = objective.gradient(moved, None)
            pair = _pair(moved - theta, slope - gradient)
            scale = _scale(pair, scale)
            pairs = [*pairs, pair][-self.pairs :]
            theta, value, gradient = moved, lower, slope
        return theta


def _search(
    call: OracleCall, theta: Array, value: Array, gradient: Array, direction: Array, scale: Array,
    done: Array,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """The new θ along Π_Θ(θ − λ direction), its value, and which seeds move; others stay."""
    xp, project = array_namespace(theta), call.theta_set.project
    ahead = dot(gradient, project(theta - direction) - theta)
    direction = xp.where((ahead < 0)[..., None], direction, scale[..., None] * gradient)
    moved, lowest, found = theta, value, value != value
    for halving in range(HALVINGS):
        trial = project(theta - 0.5**halving * direction)
        reached, promised = call.objective.value(trial), dot(gradient, trial - theta)
        enough = (promised < -FLAT * abs(value)) & (reached <= value + ARMIJO * promised)
        new = enough & ~found & ~done
        moved = xp.where(new[..., None], trial, moved)
        lowest = xp.where(new, reached, lowest)
        found = found | new
        if bool((found | done).all()):
            break
    return moved, lowest, found


def _two_loops(pairs: list[Pair], scale: Array, gradient: Array) -> Array:
    """H ∇f by the two-loop recursion; `scale` [...] is the multiple of I it starts from."""
    shares = []
    for pair in reversed(pairs):
        share = (pair.inverse * dot(pair.step, gradient))[..., None]
        gradient = gradient - share * pair.change
        shares.append(share)
    direction = scale[..., None] * gradient
    for pair, share in zip(pairs, reversed(shares), strict=True):
        back = (pair.inverse * dot(pair.change, direction))[..., None]
        direction = direction + (share - back) * pair.step
    return direction


def _pair(step: Array, change: Array) -> Pair:
    """The pair of a step; `inverse` is 0 unless the curvature along the step is positive."""
    xp = array_namespace(step)
    curvature = dot(step, change)
    usable = curvature > FLAT * xp.sqrt(dot(step, step) * dot(change, change))
    inverse = xp.where(usable, 1.0 / xp.where(usable, curvature, 1.0 + 0.0 * curvature), 0.0)
    return Pair(step, change, inverse)


def _scale(pair: Pair, before: Array) -> Array:
    """⟨s, y⟩ / ⟨y, y⟩, about the inverse curvature; twice the last scale if that is negative."""
    xp = array_namespace(before)
    usable = pair.inverse > 0
    square = xp.where(usable, dot(pair.change, pair.change), 1.0 + 0.0 * before)
    return xp.where(usable, dot(pair.step, pair.change) / square, 2.0 * before)
