"""Columns against the rounds: means with intervals or seeds, on linear or logarithmic axes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from odfl_cli.core.text import plus_minus
from odfl_cli.plotting.canvas import finish, logarithmic, new_figure
from odfl_cli.plotting.request import Request
from odfl_cli.plotting.style import GREY, Drawn
from odfl_cli.results.aggregation import Line
from odfl_cli.results.grouping import Settings
from odfl_cli.results.words import REFERENCES

GUIDE_SLOPE, GUIDE = -0.25, "slope −1/4"  # the exponent of T in the paper's bounds
GUIDE_STYLE: dict[str, Any] = {"color": GREY, "linewidth": 0.8}
MOST_BANDS = 3  # that can lie above each other without mixing their colours; else bars
BARS = 6  # along a curve
MARK_EVERY = 0.12  # of the diagonal of the axes
DRAWN_FROM = 0.01  # of its horizon: before, a curve is noise
MEAN_FROM = 0.03  # a mean may leave the picture before
BAND_FROM = 0.25  # a band may leave it for longer, it narrows like 1/√t
NEAR = 1.0  # a reference farther away than this many heights of the picture is left out
MARGIN = 0.05


class Panel(NamedTuple):
    """The curves of one pair of axes."""

    label: str  # of the y-axis
    drawn: list[Drawn]
    title: str = ""
    is_gap: bool = False  # differences, with a line at zero
    across: int = 0  # panels in a row of a figure of facets
    marks: Sequence[int] = ()  # rounds with a vertical line

    def add_facts(self, facts: Settings) -> "Panel":
        """The panel, with further columns in the numbers of its lines."""
        return self._replace(drawn=[one.add_facts(facts) for one in self.drawn])


def draw_curves(panels: list[Panel], title: str, request: Request) -> Figure:
    """Panels with a shared legend; a curve beyond the limits of a panel is labelled with its value."""
    figure, axes = new_figure(len(panels), request, across=panels[0].across)
    legend: dict[str, Line2D] = {}
    absent: dict[str, list[str]] = {}
    for axis, panel in zip(axes, panels, strict=True):
        draw_panel(axis, panel, request.each_seed)
        for one in panel.drawn:
            legend.setdefault(one.name, Line2D([], [], **_line_style(one)))
            if (value := off_scale(one.line, axis.get_ylim())) is not None:
                words = f"{panel.title}:" if panel.title else panel.label.partition("\n")[0]
                absent.setdefault(one.name, []).append(f"{words} {round(value, 9):.3g}")
    notes = {name: f" (off scale: {', '.join(absent[name])})" for name in absent}
    named = {name + notes.get(name, ""): line for name, line in legend.items() if name}
    finish(figure, named if len(named) > 1 or not panels[0].is_gap else {}, title)
    return figure


def draw_panel(axis: Axes, panel: Panel, seeds: bool = False) -> None:
    """Curves against the rounds."""
    if panel.is_gap:
        axis.axhline(0, color=GREY, linewidth=0.8, zorder=1)
    for mark in panel.marks:
        axis.axvline(mark, color=GREY, linewidth=0.6, linestyle=(0, (2, 2)), zorder=0)
    count = len(panel.drawn)
    lines = [one.line for one in panel.drawn]
    limits, banded = view(lines), count <= (1 if panel.is_gap else MOST_BANDS)
    for place, one in enumerate(panel.drawn):
        points, style = _late_points(one), _line_style(one)
        above = 2 if one.line.algorithm in REFERENCES else 3
        axis.plot(points["x"], points["mean"], label=one.name, zorder=above, **style)
        if seeds and len(one.line.by_seed):
            table, colour = one.line.by_seed.loc[points["x"]], one.style.colour
            axis.plot(
                table.index, table.to_numpy(), color=colour, linewidth=0.4, alpha=0.5, zorder=1
            )
        elif off_scale(one.line, limits) is None:
            _draw_interval(axis, one, place / count, banded)
    last = max(int(line.points["x"].max()) for line in lines)
    axis.set(xlabel="round $t$", ylabel=panel.label, xlim=(0, last), ylim=limits)
    if panel.title:
        axis.set_title(panel.title)


def draw_rates(panels: list[Panel], title: str, request: Request) -> Figure:
    """Panels on logarithmic axes, with the slope of the theorems."""
    figure, axes = new_figure(len(panels), request)
    legend = {}
    for axis, panel in zip(axes, panels, strict=True):
        for one in panel.drawn:
            points = one.line.points[one.line.points["mean"] > 0]  # others have no logarithm
            legend[one.name], *_ = axis.plot(points["x"], points["mean"], **_line_style(one))
        axis.set(xlabel="round $t$", ylabel=panel.label)
        logarithmic(axis)
        draw_guide(axis, panel.drawn)
    finish(figure, legend | {GUIDE: Line2D([], [], **GUIDE_STYLE)}, title)
    return figure


def draw_guide(axis: Axes, drawn: list[Drawn]) -> None:
    """Draws a straight line with the slope of the paper's theorems above the curves."""
    points = pd.concat([one.line.points for one in drawn]).query("mean > 0")
    x = np.array([points["x"].min(), points["x"].max()], dtype=float)
    if x[0] < x[1]:
        top = 1.3 * float(points["mean"].max())
        axis.plot(x, top * (x / x[0]) ** GUIDE_SLOPE, **GUIDE_STYLE)


def format_slope(slope: tuple[float, float]) -> str:
    """−0.31 ± 0.02."""
    return "none" if slope[0] != slope[0] else plus_minus(*slope, "{:.2f}".format).replace("-", "−")


def view(lines: list[Line]) -> tuple[float, float]:
    """Limits that include every learner after its first rounds, and references close to them."""
    extents = np.array([_extent(line) for line in lines])  # [lines, 2]
    learns = np.array([line.algorithm not in REFERENCES for line in lines])
    shown = extents[learns] if learns.any() else extents
    low, high = shown[:, 0].min(), shown[:, 1].max()
    reach = NEAR * (high - low)
    near = extents[(extents[:, 0] >= low - reach) & (extents[:, 1] <= high + reach)]
    low, high = float(near[:, 0].min(initial=low)), float(near[:, 1].max(initial=high))
    margin = MARGIN * (high - low) or MARGIN * abs(high) or MARGIN
    return low - margin, high + margin


def off_scale(line: Line, limits: tuple[float, float]) -> float | None:
    """The last mean of a line if it is beyond the limits."""
    last = float(line.points["mean"].iloc[-1])
    return None if limits[0] <= last <= limits[1] else last


def _extent(line: Line) -> tuple[float, float]:
    x, mean, ci95 = (line.points[name].to_numpy(float) for name in ("x", "mean", "ci95"))
    bars = np.where(x >= BAND_FROM * x.max(), np.nan_to_num(ci95), 0)
    late = x >= MEAN_FROM * x.max()
    return float((mean - bars)[late].min()), float((mean + bars)[late].max())


def _line_style(one: Drawn) -> dict[str, Any]:
    style = one.style
    return {"color": style.colour, "linestyle": style.dashes, "linewidth": style.width,
            "marker": style.marker, "markersize": 3.5,
            "markevery": (MARK_EVERY * style.mark_from, MARK_EVERY)}  # fmt: skip


def _late_points(one: Drawn) -> pd.DataFrame:
    points = one.line.points
    return points[points["x"] >= DRAWN_FROM * points["x"].max()]


def _draw_interval(axis: Axes, one: Drawn, place: float, banded: bool) -> None:
    """A band, or bars if bands would cover each other."""
    points, colour = _late_points(one), one.style.colour
    if points["ci95"].isna().any():
        return
    if banded:
        low, high = points["mean"] - points["ci95"], points["mean"] + points["ci95"]
        axis.fill_between(points["x"], low, high, color=colour, alpha=0.15, linewidth=0, zorder=1)
    else:
        at = (np.arange(BARS) + 0.5 + 0.5 * place) / BARS * points["x"].max()
        barred = points.iloc[np.unique(points["x"].searchsorted(at).clip(0, len(points) - 1))]
        axis.errorbar(barred["x"], barred["mean"], yerr=barred["ci95"], fmt="none", ecolor=colour,
                      elinewidth=0.8, capsize=1.5, capthick=0.8, zorder=1)  # fmt: skip
