"""Twenty stocks of the S&P 500, day by day from 1990 to 2022: hold one, or some, until tomorrow."""

from pathlib import Path

import numpy as np

from odfl_cli.environments.streams.source import Table, table_source

LAGS = (1, 2, 3)
MOMENTA = (5, 20, 60)
VOLATILITY = 20
YEARS = 3
FEATURES = (
    *(f"return_{lag}" for lag in LAGS),
    *(f"momentum_{span}" for span in MOMENTA),
    f"volatility_{VOLATILITY}",
)


def read(path: Path) -> tuple[list[str], list[str], np.ndarray]:
    """Days, names of the stocks, and closing prices [days, stocks]."""
    header, *rows = np.loadtxt(path, str, delimiter=",").tolist()
    return [row[0] for row in rows], header[1:], np.array([row[1:] for row in rows], dtype=float)


def table(days: list[str], names: list[str], closing: np.ndarray) -> Table:
    """Features of day t are from the closing prices up to day t − 1, costs are −return in percent.

    Features, in percent: the last three returns, the return over 5, 20 and 60 days, and the
    deviation of the last 20 returns. Periods of three years are the groups.
    """
    returns = 100.0 * (closing[1:] / closing[:-1] - 1.0)  # returns[i] is that of day i + 1
    first = max(MOMENTA) + 1
    X = np.stack([_features(closing[:t], returns[: t - 1]) for t in range(first, len(days))])
    values = np.concatenate([X, -returns[first - 1 :, :, None]], axis=-1)
    years = [int(day[:4]) for day in days]
    begins = [year - (year - years[0]) % YEARS for year in years[first:]]
    periods = [f"{begin}-{begin + YEARS - 1}" for begin in begins]
    return Table(periods, days[first:], names, values)


def _features(closing: np.ndarray, returns: np.ndarray) -> np.ndarray:
    """Features [stocks, features], known on the evening before."""
    lagged = [returns[-lag] for lag in LAGS]
    momenta = [100.0 * (closing[-1] / closing[-1 - span] - 1.0) for span in MOMENTA]
    return np.stack([*lagged, *momenta, returns[-VOLATILITY:].std(axis=0)], axis=-1)


READ = table_source(
    "skfolio", "datasets/data/sp500_dataset.csv.gz", FEATURES, lambda path: table(*read(path))
)
SOURCES = {"stocks": READ}
