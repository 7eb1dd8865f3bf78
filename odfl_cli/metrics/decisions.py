"""The items played in the logged rounds, and those of the best decision."""

import numpy as np

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.core.settings import settings
from odfl_cli.metrics.base import RoundStart
from odfl_cli.metrics.metric import Metric

MIN_WEIGHT = 1e-9  # an item with less weight is not played
MAX_ITEMS = 52  # whose set has a number that a float holds exactly


@settings
class Decisions(Metric):
    """Adds `decision` and `best_decision`, as `encode_items` numbers them."""

    adds = ("decision", "best_decision")

    def examine(self, algorithm: Algorithm, before: RoundStart) -> dict[str, np.ndarray]:
        X, costs = before.rounds.X[:, 0], before.rounds.costs[:, 0]
        drawn = {name: values[:, 0] for name, values in before.draws.items()}
        _, played = algorithm.act(before.state, X, drawn)
        problem = algorithm.problem
        best = problem.polytope.minimise(problem.mark_missing(costs, X))
        return dict(zip(self.adds, map(encode_items, (np.asarray(played), best)), strict=True))


def encode_items(decisions: np.ndarray) -> np.ndarray:
    """A number for the items of each decision [S, d]: [S].

    The item itself if there is one, counted from 0; −1 for none; −1 − Σ 2^i over the items i if there
    are several, NaN if that has more digits than a float.
    """
    used = np.abs(decisions) > MIN_WEIGHT
    count, first = used.sum(-1), used.argmax(-1).astype(float)
    several = -1 - (used * 2.0 ** np.arange(decisions.shape[-1])).sum(-1)
    if decisions.shape[-1] > MAX_ITEMS:
        several[count > 1] = np.nan
    return np.where(count == 1, first, several)
