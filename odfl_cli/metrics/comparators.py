"""inf_θ of an average of exact costs, a non-convex problem: many smoothed descents, compared exactly."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from odfl_cli.core.arrays import unit
from odfl_cli.environments.base import Rounds
from odfl_cli.metrics.losses import Descent, Losses
from odfl_cli.metrics.theory.sample import on_the_sphere
from odfl_cli.problem.problem import Problem

MIN_STEP_ROUNDS = 128  # that a step of a descent uses, if the losses allow
MOMENTUM = 0.5
DIGITS = 11  # of costs that are compared
FINALISTS = 3  # the spread of the best few descents is the comparator's uncertainty
REFINED_PREDICTIONS, REFINED_SCALES = 10_000, (1.0, 0.2, 0.03)


@dataclass(frozen=True)
class Schedule:
    """Smoothing and steps that shrink geometrically from the first to the last step."""

    share: int  # a step uses one round of so many, the next step others
    alpha: tuple[float, float]  # smoothing, in units of the predictions' spread over the items
    rate: tuple[float, float]  # length of a step, in units of the radius of Θ

    def descent(self, losses: Losses, rounds: Rounds, starts: np.ndarray, steps: int) -> Descent:
        """The descent in `steps` steps on these rounds."""
        size, radius = len(rounds.costs), losses.problem.theta_set.radius
        stride = max(1, size // min(losses.batch, max(MIN_STEP_ROUNDS, size // self.share)))
        alphas = _spread(losses, rounds, starts) * _geometric(self.alpha, steps)
        return Descent(stride, alphas, radius * _geometric(self.rate, steps), MOMENTUM)


SCHEDULE = Schedule(share=12, alpha=(0.5, 0.05), rate=(0.5, 0.02))


class Comparator(NamedTuple):
    """The best parameter found, with its average cost."""

    theta: np.ndarray  # [m]
    value: float
    uncertainty: float  # how far apart the best few descents ended, or what refining gained
    finalists: np.ndarray  # it and the next best, [≤ FINALISTS, m]


def find_comparator(losses: Losses, rounds: Rounds, starts: np.ndarray, steps: int) -> Comparator:
    """Descends from `starts` [C, m] in `steps` steps; returns the best of all starts and ends by exact cost."""
    ends = losses.descend(starts, rounds, SCHEDULE.descent(losses, rounds, starts, steps))
    candidates = np.concatenate([ends, starts])
    values = losses.average(candidates, rounds)
    order = rank(values)
    best, value = candidates[order[0]], float(values[order[0]])
    spread = float(np.ptp(np.sort(values[: len(ends)])[:FINALISTS]))
    theta, refined = _refine(losses, rounds, best, value, candidates[order[1:5]])
    finalists = np.concatenate([theta[None], candidates[order[: FINALISTS - 1]]])
    return Comparator(theta, refined, max(spread, value - refined), finalists)


def rank(values: np.ndarray) -> np.ndarray:
    """The places of the values [C] in ascending order, the first of equal ones first.

    θ and −θ often cost the same. Values count as equal up to rounding errors, which depend on the
    processor.
    """
    size = np.abs(values).max() or 1.0
    return np.argsort(np.round(values / size, DIGITS), kind="stable")


def _refine(
    losses: Losses, rounds: Rounds, best: np.ndarray, value: float, others: np.ndarray
) -> tuple[np.ndarray, float]:
    """The best of points around `best`, towards and away from the others, and its exact cost.

    Only on few rounds, where the cost has many small plateaus, which a smoothed descent misses.
    """
    if rounds.costs.size > REFINED_PREDICTIONS:
        return best, value
    theta_set = losses.problem.theta_set
    for scale in REFINED_SCALES:
        moves = scale * theta_set.radius * unit(others - best)
        around = theta_set.project(np.concatenate([best + moves, best - moves]))
        values = losses.average(around, rounds)
        if values.min() < value:
            best, value = around[values.argmin()], float(values.min())
    return best, value


def _geometric(ends: tuple[float, float], steps: int) -> np.ndarray:
    """`steps` values from the first to the last, by a constant factor."""
    first, last = ends
    return first * (last / first) ** (np.arange(steps) / max(1, steps - 1))


def _spread(losses: Losses, rounds: Rounds, starts: np.ndarray) -> float:
    """The deviation of the predictions within a round, at a parameter on the border of Θ."""
    far = losses.problem.theta_set.project(1e9 * starts[-1])
    predictions = losses.problem.predictor.predict(far, rounds.X[:64])
    deviation = np.std if losses.problem.offers_all else np.nanstd
    return float(deviation(predictions, -1).mean()) or 1.0


def random_starts(problem: Problem, seed: int, count: int) -> np.ndarray:
    """Random points on the border of Θ, [count, m]."""
    return problem.theta_set.project(on_the_sphere(problem, count, "metrics/start", seed))


def add_random(near: np.ndarray, random: np.ndarray) -> np.ndarray:
    """`near` [C, m] completed by random starts to len(random) in total; at least one is random."""
    return np.concatenate([near, random[: max(1, len(random) - len(near))]])


def evenly_spaced(thetas: np.ndarray, count: int) -> np.ndarray:
    """At most `count` of the parameters [E, m], evenly spaced with the last one included, without zeros."""
    nonzero = thetas[np.abs(thetas).max(-1) > 0]
    if len(nonzero) <= count:
        return nonzero
    return nonzero[np.linspace(len(nonzero) / count, len(nonzero), count).round().astype(int) - 1]
