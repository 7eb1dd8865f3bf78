"""A figure around its data: its size, its title above, its legend below."""

import math
import re
import textwrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation

from odfl_cli.plotting.request import Request

PANEL_HEIGHT, STACKED_HEIGHT = 2.5, 2.1  # inches
ROW_HEIGHT = 0.17  # inches per line of text: of the legend, of the title, of a list of gaps
SMALLEST, LARGEST = 1e-4, 1e5  # on a logarithmic axis whose ticks are not powers
LETTER, HANDLE = 0.062, 0.6  # inches of the legend


def new_figure(
    panels: int, names: list[str], title: str, request: Request, height: float | None = None
) -> tuple[Figure, list[Axes]]:
    """Panels two in a row, or one above the other within a single column."""
    across = 1 if request.stacked or panels == 1 else 2
    down = math.ceil(panels / across)
    names = fold_names(names, request.width)
    lines = max((name.count("\n") + 1 for name in names), default=0)
    legend_rows = lines * math.ceil(len(names) / legend_columns(names, request.width))
    each = STACKED_HEIGHT if request.stacked else PANEL_HEIGHT
    height = (height or each * down) + ROW_HEIGHT * (legend_rows + title.count("\n"))
    figure = Figure(figsize=(request.width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = list(figure.subplots(down, across, squeeze=False).flat)
    for empty in axes[panels:]:
        empty.set_axis_off()
    return figure, axes[:panels]


def finish(
    figure: Figure, axis: Axes, names: list[str], title: str, labels: list[str] | None = None
) -> None:
    """Title above, legend below: neither can hide data.

    `labels` are the labels of the lines that the names belong to; by default the order of drawing.
    """
    if title:
        figure.suptitle(title)
    if not names:
        return
    handles, drawn = axis.get_legend_handles_labels()
    if labels is not None:
        by_label = dict(zip(drawn, handles, strict=True))
        names = [name for name, label in zip(names, labels, strict=True) if label in by_label]
        handles = [by_label[label] for label in labels if label in by_label]
    width = figure.get_figwidth()
    names = fold_names(names, width)
    figure.legend(
        handles, names, loc="outside lower center", ncols=legend_columns(names, width),
        frameon=False, handlelength=2.8, columnspacing=1.4, borderaxespad=0.2, labelspacing=0.35,
    )  # fmt: skip


class Decimals(LogFormatterSciNotation):
    """Ticks of a logarithmic axis as 0.01 and 1000; of one that goes far from 1 as powers of ten.

    Laying out a power, which is a formula, takes as long as a curve.
    """

    def __call__(self, x: float, pos: Any = None) -> str:
        """The number, or nothing where no label should be."""
        power: str = super().__call__(x, pos)
        low, high = sorted(self.axis.get_view_interval()) if self.axis else (x, x)
        return f"{x:g}" if power and low >= SMALLEST and high <= LARGEST else power


def logarithmic(axis: Axes, directions: str = "xy") -> None:
    """Makes the axes logarithmic."""
    for direction in directions:
        axis.set(**{f"{direction}scale": "log"})
        ticks = {"x": axis.xaxis, "y": axis.yaxis}[direction]
        ticks.set_major_formatter(Decimals())
        ticks.set_minor_formatter(Decimals())


def fold_names(names: list[str], width: float) -> list[str]:
    """The names in lines that fit into so many inches."""
    letters = max(20, int((width - HANDLE) / LETTER))
    return [
        name if _letters(name) <= letters
        else "\n".join(textwrap.wrap(name, letters, break_long_words=False))
        for name in names
    ]  # fmt: skip


def legend_columns(names: list[str], width: float) -> int:
    """How many columns of names fit side by side into so many inches, evenly filled."""
    if not names:
        return 1
    widths = [HANDLE + LETTER * _letters(name) for name in names]
    for rows in range(1, len(names)):
        columns = math.ceil(len(names) / rows)
        if sum(max(column) for column in np.array_split(widths, columns)) <= width:
            return columns
    return 1


def _letters(text: str) -> int:
    """The number of printed letters in the longest line."""
    plain = re.sub(r"[$_{}^]", "", re.sub(r"\\[a-z]+", "x", text))
    return max(map(len, plain.split("\n")))
