"""inf_θ of an average of exact costs, a non-convex problem: many smoothed descents, scored exactly."""

from dataclasses import dataclass

import numpy as np

from odfl_cli.environments import Rounds
from odfl_cli.metrics.losses import Losses

SHARE = 8
"""A step sees every eighth round, the next step others, unless that is more than the losses allow."""

ALPHA = (0.5, 0.05)
"""Smoothing at the first and the last step, in units of the predictions' spread over the items."""

RATE, MOMENTUM = (0.5, 0.02), 0.5
"""Length of the first and the last step, in units of the radius of Θ; memory for earlier directions."""

FEW = 3
"""The spread of the best few descents is the comparator's uncertainty."""


@dataclass(frozen=True)
class Comparator:
    """The best parameter found, with its average cost."""

    theta: np.ndarray  # [m]
    value: float
    uncertainty: float  # how far apart the best few descents ended
    finalists: np.ndarray  # where they ended, [≤ FEW, m], the best first


def find_comparator(losses: Losses, rounds: Rounds, starts: np.ndarray, steps: int) -> Comparator:
    """Descends from `starts` [C, m] in `steps` steps; the best of all starts and ends wins, by exact cost."""
    ends = _descend(losses, rounds, starts, steps)
    candidates = np.concatenate([ends, starts])
    values = losses.paid(candidates, rounds).mean(-1)
    order = np.argsort(values, kind="stable")
    reached = np.sort(values[: len(ends)])[:FEW]
    return Comparator(
        candidates[order[0]],
        float(values[order[0]]),
        float(np.ptp(reached)),
        candidates[order[:FEW]],
    )


def _descend(losses: Losses, rounds: Rounds, thetas: np.ndarray, steps: int) -> np.ndarray:
    """Projected descent with steps of a given length, which needs no tuning to a problem's scale."""
    theta_set = losses.problem.theta_set
    stride = max(SHARE, len(rounds.costs) // losses.batch)
    alphas = _spread(losses, rounds, thetas) * np.geomspace(*ALPHA, steps)
    rates = theta_set.radius * np.geomspace(*RATE, steps)
    direction = np.zeros_like(thetas)
    for step in range(steps):
        first = step % min(stride, len(rounds.costs))
        gradients = losses.gradients(thetas, rounds, first, stride, float(alphas[step]))
        direction = MOMENTUM * direction + _unit(gradients)
        thetas = theta_set.project(thetas - rates[step] * _unit(direction))
    return thetas


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Of length 1 over the last axis; 0 stays."""
    return vectors / np.maximum(np.sqrt((vectors**2).sum(-1, keepdims=True)), 1e-300)


def _spread(losses: Losses, rounds: Rounds, starts: np.ndarray) -> float:
    """How far predictions of one round lie apart, at parameters on the border of Θ."""
    predictor, theta_set = losses.problem.predictor, losses.problem.theta_set
    far = theta_set.project(1e9 * starts)
    spreads = [predictor.predict(theta, rounds.X[:64]).std(-1).mean() for theta in far]
    return float(np.mean(spreads)) or 1.0
