"""The best fixed parameter on realised rounds: independent repeats of descents and exact line searches.

The cost is piecewise constant with very many local minima, so that no search in bounded time is
sure to find the best: what is found is an upper bound on the minimum.
"""

from dataclasses import dataclass

import numpy as np

from odfl_cli.core.streams import Draw, draw
from odfl_cli.environments import Rounds
from odfl_cli.metrics.comparators import Comparator, Schedule
from odfl_cli.metrics.losses import Losses, unit

SCHEDULE = Schedule(share=4, alpha=(0.25, 0.02), rate=(0.5, 0.02))
"""Finer than for a law's comparator: the minimum of realised costs is a matter of single rounds."""

DEVIATIONS = 4.0
"""The minimum is taken to lie at most so many deviations of the repeats below their mean.

Chosen where the optimum is known, on noise with p = 3 and seeds 1000 to 1059: 4 covers 98% of them.
Tested on other problems and seeds.
"""

REACH = 0.2
"""How far from θ every other line is searched, in units of the radius: near θ is where lines gain most."""


@dataclass(frozen=True)
class Effort:
    """What a search may spend."""

    repeats: int  # independent searches
    starts: int  # random starts of each
    steps: int  # of each descent
    lines: int  # exact line searches at the end of each


def search(
    losses: Losses, rounds: Rounds, guesses: np.ndarray, seed: int, effort: Effort
) -> Comparator:
    """The best of `effort.repeats` searches, which share the guesses [C, m] among them.

    A repeat descends from its random starts, and continues from the best of the ends and of its
    guesses along random lines. The uncertainty is at least what one round can change.
    """
    suggested, metric = losses.moments(rounds)
    directions = losses.problem.theta_set.radius * unit(_normals(losses, seed, effort) @ metric)
    starts = _starts(losses, directions[:, : effort.starts])
    ends = losses.descend(starts, rounds, SCHEDULE.descent(losses, rounds, starts, effort.steps))
    candidates = np.concatenate([ends, guesses, suggested])
    values = losses.paid(candidates, rounds).mean(-1)
    repeat = np.arange(len(candidates)) % effort.repeats
    found = [
        _follow_lines(losses, rounds, candidates[repeat == r], values[repeat == r], lines)
        for r, lines in enumerate(directions[:, effort.starts :])
    ]
    found.sort(key=lambda pair: pair[1])
    thetas, values = np.stack([theta for theta, _ in found]), np.array([v for _, v in found])
    one_round = float(np.ptp(rounds.costs)) / len(rounds.costs)
    return Comparator(thetas[0], float(values[0]), max(one_round, uncertainty_of(values)), thetas)


def uncertainty_of(values: np.ndarray) -> float:
    """How far the minimum may lie below the best of independent repeats [R ≥ 2]: a deviation at least.

    The deviation of few repeats is itself unsure, and counts R/(R − 1) times.
    """
    deviation = float(values.std(ddof=1)) * len(values) / (len(values) - 1)
    return max(deviation, DEVIATIONS * deviation - float(values.mean() - values.min()))


def _normals(losses: Losses, seed: int, effort: Effort) -> np.ndarray:
    """Random directions for starts and lines, [repeats, starts + lines, m], independent of each other."""
    size, m = effort.starts + effort.lines, losses.problem.parameters
    normals = draw((seed,), "metrics/search", Draw("normal", (m,)), 0, effort.repeats * size)
    return normals.reshape(effort.repeats, size, m)


def _starts(losses: Losses, directions: np.ndarray) -> np.ndarray:
    """On the border of Θ, [C, m]; start k belongs to repeat k modulo their number."""
    return losses.problem.theta_set.project(np.concatenate(directions.swapaxes(0, 1)))


def _follow_lines(
    losses: Losses,
    rounds: Rounds,
    candidates: np.ndarray,
    values: np.ndarray,
    directions: np.ndarray,
) -> tuple[np.ndarray, float]:
    """From the best candidate along the lines, as long as these lead lower: a parameter, its average cost."""
    theta, value = candidates[values.argmin()], float(values.min())
    for line, direction in enumerate(directions):
        reach = np.inf if line % 2 else REACH
        moved, lower = losses.lowest_on_line(theta, direction, rounds, reach)
        if lower < value:
            theta, value = moved, lower
    return theta, value
