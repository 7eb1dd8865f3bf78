"""How long an algorithm needs after the environment has switched."""

import numpy as np
import pandas as pd

from odfl_cli.results.aggregation import by_seed
from odfl_cli.results.grouping import Group

WINDOW = 0.1  # of the rounds between two switches: regret per round is averaged over it
TOLERANCE = 1.1  # back at no more than this many times the level before


def recoveries(group: Group, marks: list[int]) -> list[dict[str, int | None]]:
    """For every switch, the rounds until regret per round is back where it was before.

    Regret per round is the mean over seeds and over a window; None where it did not come back
    before the next switch. Read off cumulative regret, so that rounds that were not logged count.
    """
    if "regret" not in group.rows or not marks:
        return []
    mean = by_seed(group, "regret").mean(axis=1)
    ends = [*marks[1:], group.rounds + 1]
    return [
        {"mark": mark, "rounds": _recovery(mean, mark, min(end, group.rounds + 1))}
        for mark, end in zip(marks, ends, strict=True)
    ]


def _recovery(regret: pd.Series, mark: int, end: int) -> int | None:
    """`mark` is the first round after the switch; `end` the first of the one after it."""
    window = max(1, round(WINDOW * (end - mark)))
    if mark - 1 - window < 1:
        return None
    level = TOLERANCE * _per_round(regret, np.array([mark - 1]), window)[0]
    rounds = np.arange(mark - 1 + window, end)
    back = np.flatnonzero(_per_round(regret, rounds, window) <= level)
    return int(rounds[back[0]]) - (mark - 1) if len(back) else None


def _per_round(regret: pd.Series, rounds: np.ndarray, window: int) -> np.ndarray:
    times, values = regret.index.to_numpy(float), regret.to_numpy()
    now, before = (np.interp(at, times, values) for at in (rounds, rounds - window))
    result: np.ndarray = (now - before) / window
    return result
