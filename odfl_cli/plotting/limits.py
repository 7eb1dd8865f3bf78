"""The limits of the y-axis, without the noise of the first rounds."""

import pandas as pd

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
    learners = [line for line in lines if line.algorithm not in REFERENCES] or lines
    low, high = _hull([_extent(line) for line in learners])
    height = high - low
    near = [
        extent
        for extent in map(_extent, lines)
        if extent[0] >= low - NEAR * height and extent[1] <= high + NEAR * height
    ]
    low, high = _hull([(low, high), *near])
    margin = MARGIN * (high - low) or MARGIN * abs(high) or MARGIN
    return low - margin, high + margin


def settled(line: Line) -> pd.DataFrame:
    """The points of a curve that are drawn; its CSV has them all."""
    drawn: pd.DataFrame = line.points.loc[line.points["x"] >= DRAWN_FROM * line.points["x"].max()]
    return drawn


def off_scale(line: Line, lines: list[Line]) -> float | None:
    """The last mean of a line that the view of all lines leaves out."""
    low, high = view(lines)
    last = float(line.points["mean"].iloc[-1])
    return None if low <= last <= high else last


def _extent(line: Line) -> Limits:
    points = line.points
    share = points["x"] / points["x"].max()
    means = points["mean"][share >= MEAN_FROM]
    narrow = points[share >= BAND_FROM]
    bars = narrow["ci95"].fillna(0.0)
    return (
        min(means.min(), (narrow["mean"] - bars).min()),
        max(means.max(), (narrow["mean"] + bars).max()),
    )


def _hull(extents: list[Limits]) -> Limits:
    return min(low for low, _ in extents), max(high for _, high in extents)
