"""Columns against the rounds: means with intervals or seeds, on linear or logarithmic axes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from odfl_cli.core.text import plus_minus
from odfl_cli.plotting.canvas import finish, logarithmic, new_figure
from odfl_cli.plotting.limits import DRAWN_FROM, Limits, off_scale, view
from odfl_cli.plotting.request import Request
from odfl_cli.plotting.style import GREY, Drawn
from odfl_cli.plotting.words import column_label, column_words
from odfl_cli.results.names import REFERENCES

PROMISED, GUIDE = -0.25, "slope −1/4"  # the exponent of T in the paper's bounds
MOST_BANDS = 3  # that can lie above each other without mixing their colours; else bars
BARS = 6  # along a curve
MARK_EVERY = 0.12  # of the diagonal of the axes

Slope = tuple[float, float]  # with half its 95% interval


def draw_curves(
    panels: Mapping[str, list[Drawn]], title: str, request: Request, marks: Sequence[int] = ()
) -> Figure:
    """One panel per column with a shared legend; marks are vertical lines."""
    limits = {column: view([one.line for one in drawn]) for column, drawn in panels.items()}
    names = _names_with_absent(panels, limits)
    figure, axes = new_figure(len(panels), names, title, request)
    for axis, (column, drawn) in zip(axes, panels.items(), strict=True):
        draw_panel(axis, column_label(column), drawn, marks, request.seeds)
    finish(figure, axes[0], names, title)
    return figure


def draw_sections(
    sections: Mapping[str, list[Drawn]], column: str, title: str, request: Request
) -> Figure:
    """One panel per sweep, all of one column, with a legend of all their curves."""
    drawn = {one.name: one for section in sections.values() for one in section}
    figure, axes = new_figure(len(sections), list(drawn), title, request)
    for axis, (name, section) in zip(axes, sections.items(), strict=True):
        draw_panel(axis, column_label(column), section, (), request.seeds)
        axis.set_title(name)
    _complete_legend(axes[0], list(sections.values()))
    finish(figure, axes[0], list(drawn), title, labels=list(drawn))
    return figure


def draw_panel(
    axis: Axes, ylabel: str, drawn: list[Drawn], marks: Sequence[int] = (), seeds: bool = False
) -> None:
    """Curves against the rounds, on axes that are there."""
    for mark in marks:
        axis.axvline(mark, color=GREY, linewidth=0.6, linestyle=(0, (2, 2)), zorder=0)
    for place, one in enumerate(drawn):
        _draw_curve(axis, one, seeds, place / len(drawn), banded=len(drawn) <= MOST_BANDS)
    last = max(int(one.line.points["x"].max()) for one in drawn)
    limits = view([one.line for one in drawn])
    axis.set(xlabel="round $t$", ylabel=ylabel, xlim=(0, last), ylim=limits)


def draw_gap_curves(drawn: list[Drawn], ylabel: str, title: str, request: Request) -> Figure:
    """Paired differences against the rounds, with a line at zero."""
    names = [one.name for one in drawn] if len(drawn) > 1 else []
    figure, (axis,) = new_figure(1, names, title, request)
    axis.axhline(0, color=GREY, linewidth=0.8, zorder=1)
    draw_panel(axis, ylabel, drawn, (), request.seeds)
    finish(figure, axis, names, title)
    return figure


def draw_rates(panels: Mapping[str, list[Drawn]], title: str, request: Request) -> Figure:
    """One panel per column on logarithmic axes, with the slope that the theorems promise."""
    names = [*dict.fromkeys(one.name for drawn in panels.values() for one in drawn), GUIDE]
    figure, axes = new_figure(len(panels), names, title, request)
    for axis, (column, drawn) in zip(axes, panels.items(), strict=True):
        for one in drawn:
            points = one.line.points[one.line.points["mean"] > 0]  # as logarithms want
            axis.plot(points["x"], points["mean"], label=one.name, **_line(one))
        axis.set(xlabel="round $t$", ylabel=column_label(column))
        logarithmic(axis)
        draw_guide(axis, drawn)
    _complete_legend(axes[0], list(panels.values()))
    finish(figure, axes[0], names, title, labels=names)
    return figure


def draw_guide(axis: Axes, drawn: list[Drawn]) -> None:
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
    return "none" if slope[0] != slope[0] else plus_minus(*slope, "{:.2f}".format).replace("-", "−")


def _complete_legend(first: Axes, panels: list[list[Drawn]]) -> None:
    """Adds the curves of other panels to the first, which the legend takes its lines from."""
    there = [one.name for one in panels[0]]
    for name, one in {one.name: one for panel in panels for one in panel}.items():
        if name not in there:
            first.plot([], [], label=name, **_line(one))


def _line(one: Drawn) -> dict[str, Any]:
    style = one.style
    return {"color": style.colour, "linestyle": style.dashes, "linewidth": style.width,
            "marker": style.marker, "markersize": 3.5,
            "markevery": (MARK_EVERY * style.mark_from, MARK_EVERY)}  # fmt: skip


def _draw_curve(axis: Axes, one: Drawn, seeds: bool, place: float, banded: bool) -> None:
    """A mean with its interval: a band, or bars where bands would cover each other; or its seeds."""
    every, colour = one.line.points, one.style.colour
    points = every[every["x"] >= DRAWN_FROM * every["x"].max()]
    above = 2 if one.line.algorithm in REFERENCES else 3
    axis.plot(points["x"], points["mean"], label=one.name, zorder=above, **_line(one))
    if seeds and len(one.line.by_seed):
        table = one.line.by_seed.loc[points["x"]]
        axis.plot(table.index, table.to_numpy(), color=colour, linewidth=0.4, alpha=0.5, zorder=1)
    elif points["ci95"].notna().all() and banded:
        low, high = points["mean"] - points["ci95"], points["mean"] + points["ci95"]
        axis.fill_between(points["x"], low, high, color=colour, alpha=0.15, linewidth=0, zorder=1)
    elif points["ci95"].notna().all():
        at = (np.arange(BARS) + 0.5 + 0.5 * place) / BARS * points["x"].max()
        some = points.iloc[np.unique(points["x"].searchsorted(at).clip(0, len(points) - 1))]
        axis.errorbar(some["x"], some["mean"], yerr=some["ci95"], fmt="none", ecolor=colour,
                      elinewidth=0.8, capsize=1.5, capthick=0.8, zorder=1)  # fmt: skip


def _names_with_absent(
    panels: Mapping[str, list[Drawn]], limits: Mapping[str, Limits]
) -> list[str]:
    """The names in the legend; a reference that is off the scale of a panel says where it is."""
    names = [one.name for one in next(iter(panels.values()))]
    notes: list[list[str]] = [[] for _ in names]
    for column, drawn in panels.items():
        for note, one in zip(notes, drawn, strict=True):
            if (value := off_scale(one.line, limits[column])) is not None:
                note.append(f"{column_words(column)} {round(value, 9):.3g}")
    return [
        f"{name} (off scale: {', '.join(note)})" if note else name
        for name, note in zip(names, notes, strict=True)
    ]
