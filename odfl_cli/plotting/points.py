"""Final values: against a swept key, as paired gaps, and over two keys as a heatmap."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator
from matplotlib.transforms import Transform, offset_copy

from odfl_cli.plotting.canvas import ROW_HEIGHT, finish, fold_names, logarithmic, new_figure
from odfl_cli.plotting.curves import GUIDE, Slope, draw_guide, shown_slope
from odfl_cli.plotting.request import Request
from odfl_cli.plotting.style import GREY, INK, Drawn
from odfl_cli.plotting.words import column_label, key_label, shorten_value
from odfl_cli.results.grouping import sort_key

DODGE = 2.2  # points on the paper between bars that belong to the same x
WIDEST_DODGE = 12.0  # points, all lines together
MOST_TICKS = 8
WIDE = 30.0  # two values with a larger ratio are drawn on a logarithmic axis


def draw_sweep(
    drawn: list[Drawn], title: str, request: Request, slopes: Mapping[str, Slope] | None = None
) -> Figure:
    """The final value of the column against the key; with slopes, on logarithmic axes."""
    labels = [one.name for one in drawn]
    found = [(slopes or {}).get(one.line.algorithm) for one in drawn]
    names = [
        f"{name}, slope {shown_slope(slope)}" if slope else name
        for name, slope in zip(labels, found, strict=True)
    ]
    extra = [] if slopes is None else [GUIDE]
    figure, (axis,) = new_figure(1, [*names, *extra], title, request)
    if slopes is not None:
        logarithmic(axis)
    _draw_points(figure, axis, drawn, request.x[0])
    axis.set_ylabel(column_label(request.column, final=True))
    if slopes is not None:
        draw_guide(axis, drawn)
    finish(figure, axis, [*names, *extra], title, [*labels, *extra])
    return figure


def draw_gap(drawn: list[Drawn], gap_label: str, title: str, request: Request) -> Figure:
    """A paired gap against the key, with a line at zero."""
    names = [one.name for one in drawn] if len(drawn) > 1 else []
    figure, (axis,) = new_figure(1, names, title, request)
    axis.axhline(0, color=GREY, linewidth=0.8, zorder=1)
    _draw_points(figure, axis, drawn, request.x[0])
    axis.set_ylabel(gap_label)
    finish(figure, axis, names, title)
    return figure


def draw_gap_rows(drawn: list[Drawn], gap_label: str, title: str, request: Request) -> Figure:
    """Paired gaps one below the other, with a line at zero."""
    height = 0.95 + 1.4 * ROW_HEIGHT * len(drawn)
    figure, (axis,) = new_figure(1, [], title, request, height)
    axis.axvline(0, color=GREY, linewidth=0.8, zorder=1)
    for row, one in enumerate(drawn):
        mean, ci95 = (float(one.line.points[name].iloc[0]) for name in ("mean", "ci95"))
        bar = None if math.isnan(ci95) else ci95
        axis.errorbar(mean, row, xerr=bar, fmt="o", color=INK, markersize=4, capsize=2.5)
    axis.set_yticks(range(len(drawn)), [one.name for one in drawn])
    axis.set(xlabel=gap_label, ylim=(len(drawn) - 0.4, -0.6))
    axis.margins(x=0.12)
    axis.xaxis.set_major_locator(MaxNLocator(5 if request.stacked else 9))
    finish(figure, axis, [], title)
    return figure


def draw_heatmap(
    tables: Mapping[str, pd.DataFrame], value_label: str, title: str, request: Request
) -> Figure:
    """One panel per table with the first key across and the second down; differences around zero."""
    import seaborn as sns  # slow to import, and used here only

    values = np.concatenate([table.to_numpy().ravel() for table in tables.values()])
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if request.gap:
        low, high = -max(abs(low), abs(high)), max(abs(low), abs(high))
    rows = max(len(table) for table in tables.values())
    down = math.ceil(len(tables) / (1 if request.stacked or len(tables) == 1 else 2))
    figure, axes = new_figure(len(tables), [], title, request, down * (1.0 + 0.28 * rows))
    for axis, (name, table) in zip(axes, tables.items(), strict=True):
        sns.heatmap(table, ax=axis, vmin=low, vmax=high, cmap="vlag" if request.gap else "crest",
                    annot=True, fmt=".3g", annot_kws={"size": 6}, linewidths=0.5, cbar=False)  # fmt: skip
        axis.set(xlabel=key_label(request.x[0]), ylabel=key_label(request.x[1]))
        axis.set_title(
            "\n".join(fold_names([name], request.width / (1 if down == len(tables) else 2)))
        )
        axis.tick_params(length=0)
        axis.tick_params(axis="y", rotation=0)
    bar = figure.colorbar(axes[0].collections[0], ax=axes, label=value_label)
    bar.outline.set_visible(False)
    finish(figure, axes[0], [], title)
    return figure


def is_swept_in_ratios(values: list[float]) -> bool:
    """Whether positive, ascending values have steps that are more alike as ratios."""
    if len(values) < 2 or values[0] <= 0:
        return False
    if len(values) == 2:
        return values[1] >= WIDE * values[0]
    ratios, steps = (np.diff(x) for x in (np.log(values), np.asarray(values, float)))
    return bool(ratios.std() / ratios.mean() < steps.std() / steps.mean() - 1e-9)


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
    log = axis.get_xscale() == "log" or (numeric and is_swept_in_ratios(list(places.values())))
    if log:
        logarithmic(axis, "x")
    if not numeric or (log and len(values) <= MOST_TICKS):
        axis.set_xticks(list(places.values()), [shorten_value(value) for value in values])
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
