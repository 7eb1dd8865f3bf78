"""The forest plot: paired differences to a baseline, a row for each algorithm, a panel for each problem."""

import math
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from odfl_cli.core.errors import UserError
from odfl_cli.core.statistics import Interval
from odfl_cli.core.text import did_you_mean
from odfl_cli.plotting.canvas import ROW_HEIGHT, finish, fold_names, new_figure
from odfl_cli.plotting.figure_files import Sheet
from odfl_cli.plotting.request import Request
from odfl_cli.plotting.style import DARK, GREY, LineStyle, line_styles
from odfl_cli.results.grouping import Run, freeze
from odfl_cli.results.leaderboard import ROUNDS, SEEDS, board, name_settings
from odfl_cli.results.words import NAIVE, REFERENCES, column_words, label

MOST_PANELS = 6
ITSELF: Interval = {"mean": 0.0, "ci95": None}  # the baseline's difference to itself
REACH = 4.0  # a row farther from the baseline than this many times the median is off the scale


class Row(NamedTuple):
    """One difference with its interval."""

    name: str
    style: LineStyle
    mean: float
    ci95: float


def forest_sheet(runs: list[Run], column: str, title: str, request: Request) -> Sheet:
    """Differences of final values to the baseline, paired by seed, or by round for recorded rounds."""
    over = ROUNDS if column == "avg_cost" and all(map(_is_recorded, runs)) else SEEDS
    base = _baseline(runs, column, request.forest or "")
    found = board({"": runs}, column, rows=["algo"], baseline=base, over=over)
    styles = line_styles([run.algorithm for run in runs], request.labels)
    panels: dict[str, list[Row]] = {}
    parts = []
    for place in found.columns:
        named = [(row, found.cells.get(freeze([row, place]))) for row in found.rows]
        there = [(entry.gap or ITSELF, row, entry) for row, entry in named if entry]
        for gap, row, entry in sorted(there, key=lambda one: one[0]["mean"]):
            style = styles[entry.run.algorithm]
            ci95 = math.nan if gap["ci95"] is None else gap["ci95"]
            shown = Row(label(style.name, found.best_settings(row)), style, gap["mean"], ci95)
            panels.setdefault(name_settings(place), []).append(shown)
            numbers = {"seeds": len(entry.values), "mean": gap["mean"], "ci95": ci95}
            parts.append({**entry.settings, "baseline": base, **numbers})
    words = f"{column_words(column)} minus that of {styles[base].name}, ±\N{NO-BREAK SPACE}95% over {over.words}"
    draw = partial(draw_rows, panels, f"{words} (left: better)", title, request)
    return Sheet("forest", draw, pd.DataFrame(parts))


def draw_rows(panels: dict[str, list[Row]], words: str, title: str, request: Request) -> Figure:
    """Draws differences one below the other, with a line at zero."""
    rows = max(map(len, panels.values()))
    (words,) = fold_names([words], request.width)
    figure, axes = new_figure(len(panels), request, 0.75 + 1.25 * ROW_HEIGHT * rows)
    figure.set_figheight(figure.get_figheight() + ROW_HEIGHT * words.count("\n"))
    for axis, (name, shown) in zip(axes, panels.items(), strict=True):
        _draw_rows(axis, shown)
        axis.set_title(name)
    figure.supxlabel(words, fontsize=8)
    finish(figure, {}, title)
    return figure


def _draw_rows(axis: Axes, rows: list[Row]) -> None:
    sizes = sorted(abs(row.mean) + np.nan_to_num(row.ci95) for row in rows)
    far = REACH * max(sizes[len(sizes) // 2], 1e-12)
    axis.axvline(0, color=GREY, linewidth=0.8, zorder=1)
    for place, row in enumerate(rows):
        if abs(row.mean) > far:
            side = float(row.mean > 0)
            axis.annotate(
                f"{row.mean:+.3g}".replace("-", "−"), (side, place), color=GREY, fontsize=7, va="center",
                xycoords=("axes fraction", "data"), ha="right" if side else "left",
            )  # fmt: skip
            continue
        bar = None if math.isnan(row.ci95) else row.ci95
        marker = "s" if row.style.colour in (GREY, DARK) else "o"
        axis.errorbar(row.mean, place, xerr=bar, fmt=marker, color=row.style.colour,
                      markersize=4, linewidth=1.2)  # fmt: skip
    axis.set_yticks(range(len(rows)), [row.name for row in rows])
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.margins(x=0.12)
    axis.xaxis.set_major_locator(MaxNLocator(5))


def _baseline(runs: list[Run], column: str, asked: str) -> str:
    """The requested algorithm, or else the best naive policy, PF-OGD or the first learner."""
    names = list(dict.fromkeys(run.algorithm for run in runs))
    if asked and asked not in names:
        raise UserError(f"--forest {asked}: no run of it; {did_you_mean(asked, sorted(names))}")
    naive = [run for run in runs if run.algorithm in NAIVE and len(run.final(column))]
    naive.sort(key=lambda run: float(run.final(column).mean()))
    learners = [name for name in names if name not in REFERENCES]
    known = [name for name in names if name == "pf_ogd"]
    return [*filter(None, [asked]), *(run.algorithm for run in naive), *known, *learners, *names][0]


def _is_recorded(run: Run) -> bool:
    """True if its rounds are recorded data and all are logged: seeds then share their time."""
    logged = len(run.rows) == run.rounds * len(run.seeds)
    return logged and str(run.settings.get("data.file") or "") != ""
