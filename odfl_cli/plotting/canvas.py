"""The layout of a figure: its size, its title above, its legend below."""

import math
import re
import textwrap
from collections.abc import Mapping
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
    panels: int, request: Request, height: float | None = None, across: int = 0
) -> tuple[Figure, list[Axes]]:
    """Panels of `height` per row, `across` (default 2) in a row, or stacked in a single column."""
    across = across or panels_across(panels, request)
    down = math.ceil(panels / across)
    height = (height or (STACKED_HEIGHT if request.stacked else PANEL_HEIGHT)) * down
    figure = Figure(figsize=(request.width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = list(figure.subplots(down, across, squeeze=False).flat)
    for empty in axes[panels:]:
        empty.set_axis_off()
    return figure, axes[:panels]


def panels_across(panels: int, request: Request) -> int:
    """The number of panels in a row."""
    return 1 if request.stacked or panels == 1 else 2


def finish(figure: Figure, legend: Mapping[str, Any], title: str) -> None:
    """Adds the title above and the legend below, and enlarges the figure by both."""
    labels = [axis.get_ylabel() for axis in figure.axes]
    for axis, left, label in zip(figure.axes[1:], labels, labels[1:], strict=False):
        place = axis.get_subplotspec()
        if place and not place.is_first_col() and left == label:
            axis.set_ylabel("")  # the panel to the left has it
    width = figure.get_figwidth()
    names = fold_names(list(legend), width)
    columns = legend_columns(names, width)
    lines = max((name.count("\n") + 1 for name in names), default=0)
    rows = lines * math.ceil(len(names) / columns) + title.count("\n")
    figure.set_figheight(figure.get_figheight() + ROW_HEIGHT * rows)
    if title:
        figure.suptitle(title)
    if names:
        figure.legend(
            list(legend.values()), names, loc="outside lower center", ncols=columns,
            frameon=False, handlelength=2.8, columnspacing=1.4, borderaxespad=0.2, labelspacing=0.35,
        )  # fmt: skip


class Decimals(LogFormatterSciNotation):
    """Ticks of a logarithmic axis as 0.01 and 1000, or if far from 1 as powers of ten, which are slow to draw."""

    def __call__(self, x: float, pos: Any = None) -> str:
        """The number, or an empty text for no label."""
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
    """The names in lines that fit into a width in inches."""
    letters = max(20, int((width - HANDLE) / LETTER))
    folded = ["\n".join(textwrap.wrap(name, letters, break_long_words=False)) for name in names]
    fits = [_letters(name) <= letters for name in names]
    return [
        name if whole else lines for name, whole, lines in zip(names, fits, folded, strict=True)
    ]


def legend_columns(names: list[str], width: float) -> int:
    """The number of columns of names, evenly filled, that fit into a width in inches."""
    widths = [HANDLE + LETTER * _letters(name) for name in names]
    for columns in (math.ceil(len(names) / rows) for rows in range(1, len(names))):
        if sum(max(column) for column in np.array_split(widths, columns)) <= width:
            return columns
    return 1


def _letters(text: str) -> int:
    """The number of printed letters in the longest line."""
    plain = re.sub(r"[$_{}^]", "", re.sub(r"\\[a-z]+", "x", text))
    return max(map(len, plain.split("\n")))
