"""Tables of docs/data/foreign.csv and, of all learners, docs/data/rankings.csv."""

from collections.abc import Callable

import numpy as np
import pandas as pd
from cells import gap, table
from foreign import PLACE, PROBLEMS, STEPS
from rankings import read

MIXTURES = {"pool": "df_ogd", "ftpl_a": "ftpl_d"}
"""Algorithms without their own step size; they are compared with the tuned form of their learners."""


def means() -> pd.DataFrame:
    """The mean regret by algorithm, problem (rows) and form (columns)."""
    found = pd.read_csv(PLACE).groupby(["algo", "problem", "form"])["regret"].mean().unstack("form")
    for mixture, learner in MIXTURES.items():
        mixed = found.loc[[learner]].rename(index={learner: mixture}, level="algo")
        mixed["default"] = [read()[problem, mixture].mean() for _, problem in mixed.index]
        found = pd.concat([found, mixed])
    return found


def ratios() -> str:
    """Defaults against the best of the grid, by problem and over all, now and with theta_radius=1."""
    worst, mean = "worst", "geometric mean"
    was = [f"{what} with theta_radius=1" for what in (worst, mean)]
    rows, found = [["algorithm", *PROBLEMS, worst, mean, *was]], means()
    for algo in (*STEPS, *MIXTURES):
        regret = found.loc[algo].reindex(PROBLEMS)
        now, before = (regret[form] / regret["tuned"] for form in ("default", "before"))
        before = before if algo in STEPS else before * np.nan
        over_all = [f(x) for x in (now, before) for f in (np.max, geometric_mean)]
        cells = [*now, *over_all]
        rows.append([f"`{algo}`", *(f"{value:.2f}" if value == value else "–" for value in cells)])
    return table(rows)


def geometric_mean(values: pd.Series) -> float:
    """The exponential of the mean logarithm."""
    return float(np.exp(np.log(values).mean()))


def regrets() -> str:
    """Place and regret a round with defaults; in bold if not distinguishable from the first."""
    values, rows = read(), [["algorithm", *PROBLEMS]]
    columns = {problem: _places(values[problem].dropna(how="all")) for problem in PROBLEMS}
    names = sorted({algo for cells in columns.values() for algo in cells})
    place = {a: np.mean([c[a][0] for c in columns.values() if a in c]) for a in names}
    for algo in sorted(names, key=place.__getitem__):
        cells = (columns[problem].get(algo, (0, "–"))[1] for problem in PROBLEMS)
        rows.append([f"`{algo}`", *cells])
    return table(rows)


def _places(values: pd.DataFrame) -> dict[str, tuple[int, str]]:
    """Algorithm → its place, and the cell."""
    values = values.dropna(axis=1)
    mean, cells = values.mean().sort_values(), {}
    for place, algo in enumerate(mean.index, 1):
        first = place == 1 or gap(values[algo], values[mean.index[0]])[1] != "positive"
        cell = f"{place}: {mean[algo]:.3g}"
        cells[algo] = place, f"**{cell}**" if first else cell
    return cells


TABLES: dict[str, Callable[[], str]] = {"foreign-regrets": regrets}
FILED: dict[str, Callable[[], str]] = {"foreign": ratios}
