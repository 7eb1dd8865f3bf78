"""inf_θ of an average of exact costs, a non-convex problem: many smoothed descents, scored exactly."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from odfl_cli.environments import Rounds
from odfl_cli.metrics.losses import Losses

STEPS, POLISHING = 40, 15
FINALISTS, FEW = 8, 3
"""So many of the first descents are polished; the spread of the best few is the uncertainty."""

ALPHA = (0.5, 0.05)
"""Smoothing at the first and the last step, in units of the predictions' spread over the items."""

RATE, FINE_RATE = (0.5, 0.05), (0.1, 0.005)
"""Length of the first and the last step, in units of the radius of Θ; then the polishing's."""


@dataclass(frozen=True)
class Comparator:
    """The best parameter found, with its average cost."""

    theta: np.ndarray  # [m]
    value: float
    uncertainty: float  # how far apart the best few descents ended
    finalists: np.ndarray  # where they ended, [≤ FEW, m], the best first


def find_comparator(losses: Losses, rounds: Rounds, starts: np.ndarray) -> Comparator:
    """Descends from `starts` [C, m]; the best of all starts and ends wins, by exact cost."""
    spread = _spread(losses, rounds, starts)
    coarse = Schedule(spread * np.geomspace(*ALPHA, STEPS), np.geomspace(*RATE, STEPS))
    ends = _descend(losses, rounds, starts, coarse, losses.batch)
    candidates = np.concatenate([ends, starts])
    finalists = candidates[_order(losses, rounds, candidates)[1][:FINALISTS]]
    fine = Schedule(np.full(POLISHING, spread * ALPHA[1]), np.geomspace(*FINE_RATE, POLISHING))
    polished = _descend(losses, rounds, finalists, fine, losses.polishing_batch)
    candidates = np.concatenate([polished, finalists])
    values, order = _order(losses, rounds, candidates)
    reached = np.sort(np.minimum(*values.reshape(2, -1)))[:FEW]
    best = order[0]
    return Comparator(
        candidates[best], float(values[best]), float(np.ptp(reached)), candidates[order[:FEW]]
    )


class Schedule(NamedTuple):
    """Smoothing and length of every step."""

    alphas: np.ndarray
    rates: np.ndarray


def _descend(
    losses: Losses, rounds: Rounds, thetas: np.ndarray, schedule: Schedule, batch: int
) -> np.ndarray:
    """Projected descent with steps of a given length, which needs no tuning to a problem's scale.

    Every step sees another part of the rounds.
    """
    theta_set = losses.problem.theta_set
    stride = max(1, len(rounds.costs) // batch)
    for step, (alpha, rate) in enumerate(zip(*schedule, strict=True)):
        gradients = losses.gradients(thetas, rounds, step % stride, stride, float(alpha))
        lengths = np.sqrt((gradients**2).sum(-1, keepdims=True))
        moves = theta_set.radius * rate * gradients / np.maximum(lengths, 1e-300)
        thetas = theta_set.project(thetas - moves)
    return thetas


def _order(losses: Losses, rounds: Rounds, candidates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The exact average cost of every candidate, and their order by it."""
    values = losses.paid(candidates, rounds).mean(-1)
    return values, np.argsort(values, kind="stable")


def _spread(losses: Losses, rounds: Rounds, starts: np.ndarray) -> float:
    """How far predictions of one round lie apart, at parameters on the border of Θ."""
    predictor, theta_set = losses.problem.predictor, losses.problem.theta_set
    far = theta_set.project(1e9 * starts)
    spreads = [predictor.predict(theta, rounds.X[:64]).std(-1).mean() for theta in far]
    return float(np.mean(spreads)) or 1.0
