"""Final values against a swept key, and over two keys as a heatmap."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator
from matplotlib.transforms import Transform, offset_copy

from odfl_cli.plotting.canvas import finish, fold_names, logarithmic, new_figure, panels_across
from odfl_cli.plotting.curves import GUIDE, GUIDE_STYLE, Panel, draw_guide
from odfl_cli.plotting.request import Request
from odfl_cli.plotting.style import GREY, Drawn
from odfl_cli.results.grouping import sort_key
from odfl_cli.results.words import key_label, shorten_value

DODGE = 2.2  # points on the paper between bars that belong to the same x
WIDEST_DODGE = 12.0  # points, all lines together
MOST_TICKS = 8
WIDE = 30.0  # two values with a larger ratio are drawn on a logarithmic axis


def draw_points(panels: list[Panel], title: str, request: Request) -> Figure:
    """Final values or paired gaps against the key."""
    figure, axes = new_figure(len(panels), request, across=panels[0].across)
    legend: dict[str, Any] = {}
    for axis, panel in zip(axes, panels, strict=True):
        if request.gap:
            axis.axhline(0, color=GREY, linewidth=0.8, zorder=1)
        if request.loglog:
            logarithmic(axis)
        _draw_points(figure, axis, panel.drawn, request.x[0])
        axis.set_ylabel(panel.label)
        axis.set_title(panel.title)
        handles, names = axis.get_legend_handles_labels()
        legend |= dict(zip(names, handles, strict=True))
        if request.loglog:
            draw_guide(axis, panel.drawn)
            legend[GUIDE] = Line2D([], [], **GUIDE_STYLE)
    finish(figure, legend if len(legend) > 1 or not request.gap else {}, title)
    return figure


def draw_heatmap(
    tables: Mapping[str, pd.DataFrame], label: str, title: str, request: Request
) -> Figure:
    """One panel per table with the first key across and the second down; differences around zero."""
    import seaborn as sns  # slow to import, and used here only

    values = np.concatenate([table.to_numpy().ravel() for table in tables.values()])
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if request.gap:
        low, high = -max(abs(low), abs(high)), max(abs(low), abs(high))
    rows = max(len(table) for table in tables.values())
    figure, axes = new_figure(len(tables), request, 1.0 + 0.28 * rows)
    width = request.width / panels_across(len(tables), request)
    for axis, (name, table) in zip(axes, tables.items(), strict=True):
        sns.heatmap(table, ax=axis, vmin=low, vmax=high, cmap="vlag" if request.gap else "crest",
                    annot=True, fmt="#.3g", annot_kws={"size": 6}, linewidths=0.5, cbar=False)  # fmt: skip
        axis.set(xlabel=key_label(request.x[0]), ylabel=key_label(request.x[1]))
        axis.set_title(fold_names([name], width)[0])
        axis.tick_params(length=0)
        axis.tick_params(axis="y", rotation=0)
    bar = figure.colorbar(axes[0].collections[0], ax=axes, label=label)
    bar.outline.set_visible(False)
    finish(figure, {}, title)
    return figure


def is_swept_in_ratios(values: list[float]) -> bool:
    """True if the ratios of positive, ascending values vary less than their differences."""
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
    """Shifts points so that bars at the same x are beside each other."""
    points, style = one.line.points, one.style
    x = [places[value] for value in points["x"]]
    mean, bar = points["mean"], points["ci95"].fillna(0)
    axis.errorbar(
        x, mean, yerr=bar, label=one.name, transform=aside,
        color=style.colour, linestyle=style.dashes if joined else "none", linewidth=style.width,
        marker=style.marker or "o", markersize=3.5, elinewidth=0.9,
    )  # fmt: skip
    # What is drawn aside does not count for the limits of the axes.
    axis.update_datalim([*zip(x, mean - bar, strict=True), *zip(x, mean + bar, strict=True)])
    axis.autoscale_view()
