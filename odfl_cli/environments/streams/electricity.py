"""Electricity demand of Victoria, hour by hour in 2012: choose the hours of least demand tomorrow."""

import datetime
from pathlib import Path

import numpy as np

from odfl_cli.environments.streams.hours import FEATURES, HOURS, ORDER, WEEK, hourly_rounds
from odfl_cli.environments.streams.source import Table, table_source

UNIT = 10_000.0
TUNING_ROUNDS = 43  # the first period


def read(path: Path) -> tuple[list[datetime.date], np.ndarray]:
    """Days, and the demand of their hours [days, 24]."""
    rows = np.loadtxt(path, str, delimiter=",", skiprows=1)  # time, demand
    days = [datetime.date.fromisoformat(time[:10]) for time in rows[::HOURS, 0]]
    return days, rows[:, 1].astype(float).reshape(-1, HOURS)


def table(days: list[datetime.date], hourly: np.ndarray) -> Table:
    """Round t is day t + 7; features and costs are demand in 10,000s above the mean of the week before."""
    demand = hourly / UNIT
    level = np.array([demand[t - WEEK : t].mean() for t in range(WEEK, len(days))])[:, None, None]
    values = hourly_rounds(days, demand, demand, level)
    values[..., -1:] -= level
    rounds = len(days) - WEEK
    periods = ["tuning" if t < TUNING_ROUNDS else "evaluation" for t in range(rounds)]
    dates = [day.isoformat() for day in days[WEEK:]]
    return Table(periods, dates, [f"{hour:02d}" for hour in ORDER], values)


SOURCES = {
    "electricity": table_source(
        "statsmodels",
        "tsa/stl/tests/results/mstl_elec_vic.csv",
        FEATURES,
        lambda path: table(*read(path)),
    )
}
