"""The limits of the y-axis, without the noise of the first rounds."""

import numpy as np

from odfl_cli.results.aggregation import Line
from odfl_cli.results.names import REFERENCES

DRAWN_FROM = 0.01  # of its horizon: before, a curve is noise
MEAN_FROM = 0.03  # a mean may leave the picture before
BAND_FROM = 0.25  # a band may leave it for longer, it narrows like 1/√t
NEAR = 1.0  # a reference farther away than this many heights of the picture is left out
MARGIN = 0.05

Limits = tuple[float, float]


def view(lines: list[Line]) -> Limits:
    """Limits that hold every learner after its first rounds, and every reference that is near."""
    extents = {id(line): _extent(line) for line in lines}
    learners = [line for line in lines if line.algorithm not in REFERENCES] or lines
    low, high = _hull([extents[id(line)] for line in learners])
    height = high - low
    near = [
        extent
        for extent in extents.values()
        if extent[0] >= low - NEAR * height and extent[1] <= high + NEAR * height
    ]
    low, high = _hull([(low, high), *near])
    margin = MARGIN * (high - low) or MARGIN * abs(high) or MARGIN
    return low - margin, high + margin


def off_scale(line: Line, limits: Limits) -> float | None:
    """The last mean of a line that the limits leave out."""
    last = float(line.points["mean"].iloc[-1])
    return None if limits[0] <= last <= limits[1] else last


def _extent(line: Line) -> Limits:
    x, mean, ci95 = (line.points[name].to_numpy(float) for name in ("x", "mean", "ci95"))
    means, narrow = mean[x >= MEAN_FROM * x.max()], x >= BAND_FROM * x.max()
    bars = np.nan_to_num(ci95[narrow])
    return (
        float(min(means.min(), (mean[narrow] - bars).min())),
        float(max(means.max(), (mean[narrow] + bars).max())),
    )


def _hull(extents: list[Limits]) -> Limits:
    return min(low for low, _ in extents), max(high for _, high in extents)
