"""Drawing: columns against rounds, final values against a swept key, and paired gaps."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator
from matplotlib.transforms import Transform, offset_copy

from odfl_cli.core.text import plus_minus
from odfl_cli.plotting.limits import off_scale, settled, view
from odfl_cli.plotting.style import (
    GREY,
    INK,
    WIDTHS,
    LineStyle,
    column_label,
    column_words,
    key_label,
    label,
    legend_columns,
    shown,
    variant,
)
from odfl_cli.results.aggregation import Line, sort_key
from odfl_cli.results.names import REFERENCES

PANEL_HEIGHT = {"single": 2.1, "double": 2.5}  # inches
ROW_HEIGHT = 0.17  # inches per line of text: of the legend, of the title, of a list of gaps
DODGE = 2.2  # points on the paper between bars that belong to the same x
WIDEST_DODGE = 12.0  # points, all lines together
MOST_TICKS = 8
PROMISED, GUIDE = -0.25, "slope −1/4"  # the exponent of T in the paper's bounds
BANDS = 5  # that can lie above each other and still be told apart
MARK_EVERY = 0.12  # of the diagonal of the axes


Slope = tuple[float, float]  # with half its 95% interval


class Drawn(NamedTuple):
    """A line with the style and the name it has in every figure."""

    line: Line
    style: LineStyle
    name: str


class Frame(NamedTuple):
    """What surrounds the data of a figure."""

    title: str
    size: str  # a key of WIDTHS


def styled(lines: list[Line], styles: Mapping[str, LineStyle]) -> list[Drawn]:
    """Every line with its style and name, in the order of the legend: references last."""
    order = list(styles)
    ranked = sorted(lines, key=lambda line: _rank(line, order))
    drawn = []
    for line in ranked:
        alike = [id(other) for other in ranked if other.algorithm == line.algorithm]
        style = variant(styles[line.algorithm], alike.index(id(line)), len(alike))
        drawn.append(Drawn(line, style, label(style.name, line.varying)))
    return drawn


def draw_curves(
    panels: Mapping[str, list[Drawn]], frame: Frame, marks: Sequence[int] = ()
) -> Figure:
    """One panel per column, against the rounds, with a shared legend; marks are vertical lines."""
    names = _names_with_absent(panels)
    figure, axes = new_figure(len(panels), names, frame)
    for axis, (column, drawn) in zip(axes, panels.items(), strict=True):
        draw_panel(axis, column, drawn, marks)
    finish(figure, axes[0], names, frame)
    return figure


def draw_panel(axis: Axes, column: str, drawn: list[Drawn], marks: Sequence[int] = ()) -> None:
    """A column against the rounds, on axes that are there."""
    for mark in marks:
        axis.axvline(mark, color=GREY, linewidth=0.6, linestyle=(0, (2, 2)), zorder=0)
    for one in drawn:
        _draw_curve(axis, one, len(drawn))
    last = max(int(one.line.points["x"].max()) for one in drawn)
    limits = view([one.line for one in drawn])
    axis.set(xlabel="round $t$", ylabel=column_label(column), xlim=(0, last), ylim=limits)


def draw_rates(
    panels: Mapping[str, list[Drawn]], bounds: Mapping[str, list[Drawn]], frame: Frame
) -> Figure:
    """One panel per column on logarithmic axes; bounds are thin lines of the same colour."""
    names = [one.name for one in next(iter(panels.values()))]
    extra = ["the theorem's bound"] if any(bounds.values()) else []
    names = [*names, *extra, GUIDE]
    figure, axes = new_figure(len(panels), names, frame)
    for axis, (column, drawn) in zip(axes, panels.items(), strict=True):
        for one in drawn:
            _draw_positive(axis, one)
        for place, one in enumerate(bounds.get(column, ())):
            points = one.line.points
            (thin,) = axis.plot(points["x"], points["mean"], color=one.style.colour, linewidth=0.6)
            if place == 0:
                thin.set_label(extra[0])
        axis.set(xlabel="round $t$", ylabel=column_label(column), xscale="log", yscale="log")
        _guide(axis, drawn)
    bounded = [axis for axis, column in zip(axes, panels, strict=True) if bounds.get(column)]
    finish(figure, [*axes, *bounded][-1], names, frame)
    return figure


def draw_sweep(
    drawn: list[Drawn],
    key: str,
    column: str,
    frame: Frame,
    slopes: Mapping[str, Slope] | None = None,
) -> Figure:
    """The final value of a column against a key; with slopes, on logarithmic axes."""
    names = [one.name for one in drawn]
    if slopes is not None:
        found = [slopes.get(one.line.algorithm) for one in drawn]
        names = [
            f"{name}, slope {shown_slope(slope)}" if slope else name
            for name, slope in zip(names, found, strict=True)
        ]
        names.append(GUIDE)
    figure, (axis,) = new_figure(1, names, frame)
    if slopes is not None:
        axis.set(xscale="log", yscale="log")
    _draw_points(figure, axis, drawn, key)
    axis.set_ylabel(column_label(column, final=True))
    labels = [one.name for one in drawn]
    if slopes is not None:
        _guide(axis, drawn)
        labels.append(GUIDE)
    finish(figure, axis, names, frame, labels)
    return figure


def draw_gap(drawn: list[Drawn], key: str, gap_label: str, frame: Frame) -> Figure:
    """A paired gap against a key, with a line at zero."""
    names = [one.name for one in drawn] if len(drawn) > 1 else []
    figure, (axis,) = new_figure(1, names, frame)
    axis.axhline(0, color=GREY, linewidth=0.8, zorder=1)
    _draw_points(figure, axis, drawn, key)
    axis.set_ylabel(gap_label)
    finish(figure, axis, names, frame)
    return figure


def draw_gap_rows(drawn: list[Drawn], gap_label: str, frame: Frame) -> Figure:
    """Paired gaps one below the other, with a line at zero."""
    figure, (axis,) = new_figure(1, [], frame, height=0.95 + 1.4 * ROW_HEIGHT * len(drawn))
    axis.axvline(0, color=GREY, linewidth=0.8, zorder=1)
    for row, one in enumerate(drawn):
        mean, ci95 = (float(one.line.points[name].iloc[0]) for name in ("mean", "ci95"))
        bar = None if math.isnan(ci95) else ci95
        axis.errorbar(mean, row, xerr=bar, fmt="o", color=INK, markersize=4, capsize=2.5)
    axis.set_yticks(range(len(drawn)), [one.name for one in drawn])
    axis.set(xlabel=gap_label, ylim=(len(drawn) - 0.4, -0.6))
    axis.margins(x=0.12)
    axis.xaxis.set_major_locator(MaxNLocator(5 if frame.size == "single" else 9))
    finish(figure, axis, [], frame)
    return figure


def _rank(line: Line, order: list[str]) -> tuple[bool, int, list[Any]]:
    varying = [(key, sort_key(value)) for key, value in line.varying.items()]
    return line.algorithm in REFERENCES, order.index(line.algorithm), varying


def new_figure(
    panels: int, names: list[str], frame: Frame, height: float | None = None
) -> tuple[Figure, list[Axes]]:
    """Panels side by side, or one above the other within a single column."""
    stacked = panels if frame.size == "single" else 1
    legend_rows = math.ceil(len(names) / legend_columns(names, WIDTHS[frame.size]))
    text_rows = legend_rows + frame.title.count("\n")
    height = (height or PANEL_HEIGHT[frame.size] * stacked) + ROW_HEIGHT * text_rows
    figure = Figure(figsize=(WIDTHS[frame.size], height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, list(figure.subplots(stacked, panels // stacked, squeeze=False).flat)


def _draw_curve(axis: Axes, one: Drawn, curves: int) -> None:
    """A mean and its band, which is the fainter the more curves there are."""
    points, style, reference = settled(one.line), one.style, one.line.algorithm in REFERENCES
    axis.plot(
        points["x"], points["mean"], label=one.name, zorder=2 if reference else 3,
        color=style.colour, linestyle=style.dashes, linewidth=style.width,
        marker=style.marker, markersize=3.5, markevery=(MARK_EVERY * style.mark_from, MARK_EVERY),
    )  # fmt: skip
    if points["ci95"].notna().all():
        low, high = points["mean"] - points["ci95"], points["mean"] + points["ci95"]
        opacity = (0.1 if reference else 0.18) * min(1.0, BANDS / curves)
        axis.fill_between(
            points["x"], low, high, color=style.colour, alpha=opacity, linewidth=0, zorder=1
        )


def _draw_positive(axis: Axes, one: Drawn) -> None:
    """A mean and its band where they are positive, as logarithms want."""
    points = one.line.points[one.line.points["mean"] > 0]
    axis.plot(
        points["x"], points["mean"], label=one.name,
        color=one.style.colour, linestyle=one.style.dashes, linewidth=one.style.width,
    )  # fmt: skip
    low = (points["mean"] - points["ci95"]).where(points["mean"] > points["ci95"])
    axis.fill_between(
        points["x"], low, points["mean"] + points["ci95"],
        color=one.style.colour, alpha=0.12, linewidth=0,
    )  # fmt: skip


def _guide(axis: Axes, drawn: list[Drawn]) -> None:
    """A straight line of the slope that the paper's theorems promise, above the curves."""
    every = pd.concat([one.line.points for one in drawn])
    positive = every[every["mean"] > 0]
    if positive.empty:
        return
    x = np.array([float(positive["x"].min()), float(positive["x"].max())])
    if x[0] < x[1]:
        top = 1.3 * float(positive["mean"].max())
        axis.plot(x, top * (x / x[0]) ** PROMISED, color=GREY, linewidth=0.8, label=GUIDE)


def shown_slope(slope: Slope) -> str:
    """−0.31 ± 0.02."""
    return "none" if math.isnan(slope[0]) else plus_minus(*slope, "{:.2f}".format).replace("-", "−")


def _draw_points(figure: Figure, axis: Axes, drawn: list[Drawn], key: str) -> None:
    """Points with bars at the swept values; numbers are joined by lines, words are not."""
    every = [value for one in drawn for value in one.line.points["x"]]
    values = sorted(set(every), key=sort_key)
    dodge = min(DODGE, WIDEST_DODGE / len(drawn)) if len(every) > len(values) else 0.0
    numeric = all(sort_key(value)[0] == 0 for value in values)
    places = {value: float(value) if numeric else place for place, value in enumerate(values)}
    for place, one in enumerate(drawn):
        shift = dodge * (place - (len(drawn) - 1) / 2)
        aside = offset_copy(axis.transData, figure, x=shift, units="points")
        _draw_bars(axis, one, places, aside, joined=numeric)
    log = numeric and values[0] > 0 and values[-1] >= 30 * values[0]
    if log:
        axis.set_xscale("log")
    if not numeric or (log and len(values) <= MOST_TICKS):
        axis.set_xticks(list(places.values()), [shown(value) for value in values])
        _tilt_if_crowded(axis, figure.get_figwidth())
        axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xlabel(key_label(key))
    axis.margins(x=0.06 if numeric else 0.15)


def _tilt_if_crowded(axis: Axes, width: float) -> None:
    names = axis.get_xticklabels()
    if 0.07 * len("  ".join(name.get_text() for name in names)) > 0.8 * width:
        for name in names:
            name.set(rotation=30, ha="right", rotation_mode="anchor")


def _draw_bars(
    axis: Axes, one: Drawn, places: Mapping[Any, float], aside: Transform, joined: bool
) -> None:
    """Draws points aside of their place, so that bars at one x stand beside each other."""
    points, style = one.line.points, one.style
    x, mean, bar = (
        [places[value] for value in points["x"]],
        points["mean"],
        points["ci95"].fillna(0),
    )
    axis.errorbar(
        x, mean, yerr=bar, label=one.name, transform=aside,
        color=style.colour, linestyle=style.dashes if joined else "none", linewidth=style.width,
        marker=style.marker or "o", markersize=3.5, elinewidth=0.9,
    )  # fmt: skip
    # What is drawn aside does not count for the limits of the axes.
    axis.update_datalim([*zip(x, mean - bar, strict=True), *zip(x, mean + bar, strict=True)])
    axis.autoscale_view()


def _names_with_absent(panels: Mapping[str, list[Drawn]]) -> list[str]:
    """The names in the legend; a reference that is off the scale of a panel says where it is."""
    names = [one.name for one in next(iter(panels.values()))]
    notes: list[list[str]] = [[] for _ in names]
    for column, drawn in panels.items():
        lines = [one.line for one in drawn]
        for note, line in zip(notes, lines, strict=True):
            if (value := off_scale(line, lines)) is not None:
                note.append(f"{column_words(column)} {round(value, 9):.3g}")
    return [
        f"{name} (off scale: {', '.join(note)})" if note else name
        for name, note in zip(names, notes, strict=True)
    ]


def finish(
    figure: Figure, axis: Axes, names: list[str], frame: Frame, labels: list[str] | None = None
) -> None:
    """Title above, legend below: neither can hide data.

    `labels` say which line each name is of; in the order of drawing if they are not given.
    """
    figure.suptitle(frame.title, fontsize=8.5)
    if names:
        handles, drawn = axis.get_legend_handles_labels()
        if labels is not None:
            by_label = dict(zip(drawn, handles, strict=True))
            names = [name for name, of in zip(names, labels, strict=True) if of in by_label]
            handles = [by_label[label] for label in labels if label in by_label]
        columns = legend_columns(names, WIDTHS[frame.size])
        figure.legend(
            handles, names, loc="outside lower center", ncols=columns, frameon=False,
            handlelength=2.8, columnspacing=1.4, borderaxespad=0.2, labelspacing=0.35,
        )  # fmt: skip
    sns.despine(figure)
