"""Electricity demand of Victoria, hour by hour in 2012: choose the hours of least demand tomorrow."""

import datetime
from pathlib import Path

import numpy as np

from odfl_cli.environments.streams.source import Table, table_source

HOURS, WEEK = 24, 7
FEATURES = (
    "yesterday", "last_week", "mean_week", "sin", "cos", "weekend_sin", "weekend_cos",
)  # fmt: skip
ORDER = np.roll(np.arange(HOURS), HOURS // 2)
"""The day starts at noon, so that an untrained learner, which plays the first items, misses the cheap night."""
UNIT = 10_000.0
TUNING_ROUNDS = 43  # the first period


def hourly_rounds(
    days: list[datetime.date], past: np.ndarray, costs: np.ndarray, level: np.ndarray | float = 0.0
) -> np.ndarray:
    """Round t is day t + 7: [T, 24, features + 1], the cost last, from `past` and `costs` [days, 24].

    Features of an hour: `past` yesterday, a week ago and on average over the last week, less `level`
    [T, 1, 1]; sine and cosine of the hour, and the same on Saturdays and Sundays.
    """
    t = np.arange(WEEK, len(days))
    mean = np.stack([past[i - WEEK : i].mean(axis=0) for i in t])
    known = np.stack([past[t - 1], past[t - WEEK], mean], axis=-1) - level
    angle = 2.0 * np.pi * np.arange(HOURS) / HOURS
    clock = np.broadcast_to(np.stack([np.sin(angle), np.cos(angle)], -1), (len(t), HOURS, 2))
    weekend = np.array([days[i].weekday() >= 5 for i in t], dtype=float)[:, None, None]
    values = np.concatenate([known, clock, weekend * clock, costs[t][..., None]], axis=-1)
    return values[:, ORDER]


def read(path: Path) -> tuple[list[datetime.date], np.ndarray]:
    """The days, and their hourly demand [days, 24]."""
    rows = np.loadtxt(path, str, delimiter=",", skiprows=1)  # time, demand
    days = [datetime.date.fromisoformat(time[:10]) for time in rows[::HOURS, 0]]
    return days, rows[:, 1].astype(float).reshape(-1, HOURS)


def table(days: list[datetime.date], hourly: np.ndarray) -> Table:
    """Round t is day t + 7; features and costs are demand in 10,000s minus the mean of the week before."""
    demand = hourly / UNIT
    level = np.array([demand[t - WEEK : t].mean() for t in range(WEEK, len(days))])[:, None, None]
    values = hourly_rounds(days, demand, demand, level)
    values[..., -1:] -= level
    rounds = len(days) - WEEK
    periods = ["tuning" if t < TUNING_ROUNDS else "evaluation" for t in range(rounds)]
    dates = [day.isoformat() for day in days[WEEK:]]
    return Table(periods, dates, [f"{hour:02d}" for hour in ORDER], values)


FILE = "tsa/stl/tests/results/mstl_elec_vic.csv"
READ = table_source("statsmodels", FILE, FEATURES, lambda path: table(*read(path)))
SOURCES = {"electricity": READ}
