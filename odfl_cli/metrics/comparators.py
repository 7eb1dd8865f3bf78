"""inf_θ of an average of exact costs, a non-convex problem: many smoothed descents, scored exactly."""

from dataclasses import dataclass

import numpy as np

from odfl_cli.environments import Rounds
from odfl_cli.metrics.losses import Descent, Losses, unit

SHARE, LEAST = 12, 128
"""A step sees a twelfth of the rounds, the next step others; so many at least, if the losses allow."""

ALPHA = (0.5, 0.05)
"""Smoothing at the first and the last step, in units of the predictions' spread over the items."""

RATE, MOMENTUM = (0.5, 0.02), 0.5
"""Length of the first and the last step, in units of the radius of Θ; memory for earlier directions."""

FEW = 3
"""The spread of the best few descents is the comparator's uncertainty."""

REFINED_PREDICTIONS, REFINED_SCALES = 10_000, (1.0, 0.2, 0.03)


@dataclass(frozen=True)
class Comparator:
    """The best parameter found, with its average cost."""

    theta: np.ndarray  # [m]
    value: float
    uncertainty: float  # how far apart the best few descents ended, or what refining gained
    finalists: np.ndarray  # it and the next best, [≤ FEW, m]


def find_comparator(losses: Losses, rounds: Rounds, starts: np.ndarray, steps: int) -> Comparator:
    """Descends from `starts` [C, m] in `steps` steps; the best of all starts and ends wins, by exact cost."""
    ends = losses.descend(starts, rounds, _descent(losses, rounds, starts, steps))
    candidates = np.concatenate([ends, starts])
    values = losses.paid(candidates, rounds).mean(-1)
    order = np.argsort(values, kind="stable")
    best, value = candidates[order[0]], float(values[order[0]])
    spread = float(np.ptp(np.sort(values[: len(ends)])[:FEW]))
    theta, refined = _refine(losses, rounds, best, value, candidates[order[1:5]])
    finalists = np.concatenate([theta[None], candidates[order[: FEW - 1]]])
    return Comparator(theta, refined, max(spread, value - refined), finalists)


def _refine(
    losses: Losses, rounds: Rounds, best: np.ndarray, value: float, others: np.ndarray
) -> tuple[np.ndarray, float]:
    """Tries points around the best, towards and away from the others; exact, so for few rounds only.

    Few rounds make a cost of many small plateaus, which a smoothed descent does not see.
    """
    if rounds.costs.size > REFINED_PREDICTIONS:
        return best, value
    theta_set = losses.problem.theta_set
    for scale in REFINED_SCALES:
        moves = scale * theta_set.radius * unit(others - best)
        around = theta_set.project(np.concatenate([best + moves, best - moves]))
        values = losses.paid(around, rounds).mean(-1)
        if values.min() < value:
            best, value = around[values.argmin()], float(values.min())
    return best, value


def _descent(losses: Losses, rounds: Rounds, starts: np.ndarray, steps: int) -> Descent:
    """Smoothing and steps that shrink together."""
    size, radius = len(rounds.costs), losses.problem.theta_set.radius
    stride = max(1, size // min(losses.batch, max(LEAST, size // SHARE)))
    alphas = _spread(losses, rounds, starts) * _geometric(ALPHA, steps)
    return Descent(stride, alphas, radius * _geometric(RATE, steps), MOMENTUM)


def _geometric(ends: tuple[float, float], steps: int) -> np.ndarray:
    """From the first to the last value, by a constant factor."""
    first, last = ends
    return first * (last / first) ** (np.arange(steps) / max(1, steps - 1))


def _spread(losses: Losses, rounds: Rounds, starts: np.ndarray) -> float:
    """How far predictions of one round lie apart, at a parameter on the border of Θ."""
    far = losses.problem.theta_set.project(1e9 * starts[-1])
    predictions = losses.problem.predictor.predict(far, rounds.X[:64])
    return float(predictions.std(-1).mean()) or 1.0
