"""The hours of tomorrow as items, with features from the week before: what two sources share."""

import datetime

import numpy as np

HOURS, WEEK = 24, 7
FEATURES = (
    "yesterday", "last_week", "mean_week", "sin", "cos", "weekend_sin", "weekend_cos",
)  # fmt: skip
ORDER = np.roll(np.arange(HOURS), HOURS // 2)
"""The day starts at noon: a learner that knows nothing plays the first items, not the cheap night."""


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
