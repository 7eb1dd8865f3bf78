"""Figures of a run's diagnostics: margins of the decisions, the oracle's share of the time."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from odfl_cli.plotting.canvas import finish, logarithmic, new_figure
from odfl_cli.plotting.figure_files import Sheet
from odfl_cli.plotting.request import Request
from odfl_cli.plotting.style import GREY, INK, line_styles
from odfl_cli.plotting.words import label
from odfl_cli.results.grouping import Group


def diagnostic_sheets(groups: list[Group], title: str, request: Request) -> list[Sheet]:
    """The diagnostics that the runs recorded."""
    margins = next((group.extras["margin"] for group in groups if group.extras.get("margin")), None)
    shares = [group for group in groups if group.extras.get("oracle_share") is not None]
    return [
        *([_margin_sheet(margins, title, request)] if margins else []),
        *([_oracle_sheet(shares, title, request)] if shares else []),
    ]


def _margin_sheet(margin: Mapping[str, Any], title: str, request: Request) -> Sheet:
    """How often a margin is below ε, and the curve of Assumption 2 above it."""
    table = pd.DataFrame({"epsilon": margin["epsilon"], "share": margin["share"]})
    table["curve"] = margin["c0"] * table["epsilon"] ** margin["beta"]
    names = [
        "measured",
        rf"$C_0\varepsilon^\beta$, $C_0$ = {margin['c0']:.3g}, $\beta$ = {margin['beta']:.2f}",
    ]
    return Sheet("margin", partial(_draw_margin, table, names, title, request), table)


def _draw_margin(table: pd.DataFrame, names: list[str], title: str, request: Request) -> Figure:
    figure, (axis,) = new_figure(1, names, title, request)
    axis.plot(table["epsilon"], table["share"], color=INK, marker="o", markersize=3, label=names[0])
    axis.plot(table["epsilon"], table["curve"], color=GREY, linestyle="--", label=names[1])
    logarithmic(axis)
    axis.set(
        xlabel=r"margin $\varepsilon$",
        ylabel="share of rounds whose second best\nvertex is within "
        + r"$\varepsilon$ of the best",
    )
    finish(figure, axis, names, title)
    return figure


def _oracle_sheet(groups: list[Group], title: str, request: Request) -> Sheet:
    """The oracle's share of the seconds of a round, one bar per algorithm."""
    styles = line_styles([group.algorithm for group in groups], request.labels)
    names = [label(styles[group.algorithm].name, group.varying) for group in groups]
    shares = [float(group.extras["oracle_share"]) for group in groups]
    colours = [styles[group.algorithm].colour for group in groups]
    table = pd.DataFrame({"algorithm": names, "share": shares})
    return Sheet("oracle_share", partial(_draw_shares, table, colours, title, request), table)


def _draw_shares(table: pd.DataFrame, colours: list[Any], title: str, request: Request) -> Figure:
    figure, (axis,) = new_figure(1, [], title, request, 0.95 + 0.25 * len(table))
    axis.barh(np.arange(len(table)), table["share"], color=colours, height=0.6)
    axis.set_yticks(range(len(table)), list(table["algorithm"]))
    axis.invert_yaxis()
    axis.set(xlim=(0, 1), xlabel="the oracle's share of the seconds of a round")
    finish(figure, axis, [], title)
    return figure
