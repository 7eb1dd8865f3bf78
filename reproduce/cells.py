"""Measured values as text: means with intervals, differences, Markdown tables."""

import math

import numpy as np
import pandas as pd

from odfl_cli.core import text
from odfl_cli.core.statistics import mean_ci95, paired_differences


def gap(first: pd.Series, second: pd.Series) -> tuple[str, str]:
    """The mean of first − second, paired by seed, and what its interval says."""
    differences = np.array(list(paired_differences(first, second).values()))
    mean, ci95 = (float(value) for value in mean_ci95(differences))
    sign = "positive" if mean > 0 else "negative"
    return plus_minus(mean, ci95), sign if abs(mean) > ci95 else "not distinguishable from 0"


def estimate(values: pd.Series) -> str:
    """The mean of one value per seed and its 95% interval; a dash where nothing was measured."""
    mean, ci95 = mean_ci95(values.to_numpy(float))
    return plus_minus(float(mean), float(ci95))


def plus_minus(mean: float, ci95: float = math.nan) -> str:
    """A mean with two digits of its interval, or with four digits if there is none."""
    if math.isnan(mean):
        return "–"
    return text.plus_minus(mean, ci95 or math.nan, text.two_digits(ci95))


def table(rows: list[list[str]]) -> str:
    """A Markdown table; the first row is its head."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])
