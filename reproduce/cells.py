"""Measured values as text: means with intervals, differences, Markdown tables."""

import math

import pandas as pd

from odfl_cli.core.statistics import mean_ci95


def gap(differences: pd.Series) -> tuple[str, str]:
    """A mean difference, and what its interval says."""
    mean, ci95 = (float(value) for value in mean_ci95(differences.to_numpy()))
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
    if math.isnan(ci95) or ci95 == 0:
        text = f"{mean:.4g}"
    elif ci95 < 1e-6:
        text = f"{mean:.1e} ± {ci95:.1e}"
    else:
        decimals = max(0, 1 - math.floor(math.log10(ci95)))
        text = f"{round(mean, decimals) + 0.0:.{decimals}f} ± {ci95:.{decimals}f}"  # never −0.0
    return text.replace("-", "−")


def table(rows: list[list[str]]) -> str:
    """A Markdown table; the first row is its head."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])
