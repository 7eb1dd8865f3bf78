"""Tables of docs/data/foreign.csv."""

from collections.abc import Callable

import numpy as np
import pandas as pd
from cells import table
from foreign import PLACE, PROBLEMS, STEPS


def means() -> pd.DataFrame:
    """The mean regret by algorithm, problem (rows) and form (columns)."""
    return pd.read_csv(PLACE).groupby(["algo", "problem", "form"])["regret"].mean().unstack("form")


def known() -> list[str]:
    """The learners with step sizes that the file has; a loss that lists vertices lacks a problem."""
    return [algo for algo in STEPS if algo in means().index]


def ratios() -> str:
    """Defaults against the best of the grid, by problem and over all, now and with theta_radius=1."""
    worst, mean = "worst", "geometric mean"
    was = [f"{what} with theta_radius=1" for what in (worst, mean)]
    rows = [["algorithm", *PROBLEMS, worst, mean, *was]]
    for algo in known():
        own = means().loc[algo].reindex(PROBLEMS)
        now, before = (own[form] / own["tuned"] for form in ("default", "before"))
        over_all = [f(x) for x in (now, before) for f in (np.max, geometric_mean)]
        cells = [*now, *over_all]
        rows.append([f"`{algo}`", *(f"{value:.2f}" if value == value else "–" for value in cells)])
    return table(rows)


def geometric_mean(values: pd.Series) -> float:
    """The exponential of the mean logarithm."""
    return float(np.exp(np.log(values).mean()))


def regrets() -> str:
    """The regret a round with defaults."""
    found, rows = means()["default"].unstack("problem"), [["algorithm", *PROBLEMS]]
    for algo in known():
        own = found.loc[algo].reindex(PROBLEMS)
        rows.append([f"`{algo}`", *(f"{value:.3g}" if value == value else "–" for value in own)])
    return table(rows)


TABLES: dict[str, Callable[[], str]] = {"foreign-regrets": regrets}
FILED: dict[str, Callable[[], str]] = {"foreign": ratios}
