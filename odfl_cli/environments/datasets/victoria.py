"""Electricity demand of Victoria, hour by hour in 2012: choose the hours of least demand tomorrow."""

import csv
import datetime
from pathlib import Path

import numpy as np

from odfl_cli.environments.datasets.table import Table, kept, packaged

HOURS = 24
WEEK = 7
UNIT = 10_000.0
TUNING = 43
"""Rounds of the first period."""


def electricity() -> str:
    """The file of rounds: the demand in statsmodels' test results as features and costs."""
    return kept("electricity", source(), lambda path: table(*demand(path)))


def source() -> Path:
    """The file inside statsmodels."""
    return packaged("statsmodels", "tsa/stl/tests/results/mstl_elec_vic.csv")


def demand(path: Path) -> tuple[list[datetime.date], np.ndarray]:
    """Days, and the demand of their hours [days, 24]."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    days = [datetime.date.fromisoformat(row["ds"][:10]) for row in rows[::HOURS]]
    return days, np.array([float(row["y"]) for row in rows]).reshape(-1, HOURS)


def table(days: list[datetime.date], hourly: np.ndarray) -> Table:
    """Round t is day t: features from the days before and the calendar, cost the hour's demand.

    Demand counts in 10,000s, from the mean of the week before. Features of an hour: its demand
    yesterday, a week ago and on average over the last week; sine and cosine of the hour, and the
    same on Saturdays and Sundays. The hours stand in the order 12, …, 23, 0, …, 11: a learner that
    knows nothing plays the first ones, and those should not be the cheap hours of the night.
    """
    rounds = range(WEEK, len(days))
    weeks = [hourly[t - WEEK : t] / UNIT for t in rounds]
    X = np.stack([_features(week, days[t]) for week, t in zip(weeks, rounds, strict=True)])
    costs = hourly[WEEK:] / UNIT - np.array([week.mean() for week in weeks])[:, None]
    names = ["yesterday", "last_week", "mean_week", "sin", "cos", "weekend_sin", "weekend_cos"]
    periods = ["tuning" if t < WEEK + TUNING else "evaluation" for t in rounds]
    order = np.roll(np.arange(HOURS), HOURS // 2)
    hours = [f"{hour:02d}" for hour in order]
    dates = [days[t].isoformat() for t in rounds]
    return Table(periods, dates, hours, names, X[:, order], costs[:, order])


def _features(past_week: np.ndarray, day: datetime.date) -> np.ndarray:
    """[24, features] from the seven days before and the date."""
    angle = 2.0 * np.pi * np.arange(HOURS) / HOURS
    clock = np.stack([np.sin(angle), np.cos(angle)], axis=-1)
    weekend = float(day.weekday() >= 5)
    past = np.stack([past_week[-1], past_week[0], past_week.mean(axis=0)], axis=-1)
    past -= past_week.mean()
    return np.concatenate([past, clock, weekend * clock], axis=-1)
