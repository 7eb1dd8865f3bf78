"""Figures of a run's diagnostics: margins of the decisions, the oracle's share of the time."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from odfl_cli.plotting.canvas import finish, logarithmic, new_figure
from odfl_cli.plotting.figure_files import Sheet
from odfl_cli.plotting.request import Request
from odfl_cli.plotting.style import GREY, INK, line_styles
from odfl_cli.results.grouping import Group
from odfl_cli.results.words import label


def diagnostics(
    groups: list[Group], title: str, request: Request
) -> dict[str, Callable[[], Sheet]]:
    """What builds the figures that the runs recorded, by name."""
    margins = [group.extras["margin"] for group in groups if group.extras.get("margin")]
    shares = [group for group in groups if group.extras.get("oracle_share") is not None]
    found: dict[str, Callable[[], Sheet]] = {}
    if margins:
        found["margin"] = partial(_margin_sheet, margins[0], title, request)
    if shares:
        found["oracle_share"] = partial(_oracle_sheet, shares, title, request)
    return found


def _margin_sheet(margin: Mapping[str, Any], title: str, request: Request) -> Sheet:
    """How often a margin is below ε, and the curve of Assumption 2 above it."""
    table = pd.DataFrame({"epsilon": margin["epsilon"], "share": margin["share"]})
    table["curve"] = margin["c0"] * table["epsilon"] ** margin["beta"]
    curve = rf"$C_0\varepsilon^\beta$, $C_0$ = {margin['c0']:.3g}, $\beta$ = {margin['beta']:.2f}"

    def draw() -> Figure:
        figure, (axis,) = new_figure(1, request)
        measured = axis.plot(table["epsilon"], table["share"], color=INK, marker="o", markersize=3)
        assumed = axis.plot(table["epsilon"], table["curve"], color=GREY, linestyle="--")
        logarithmic(axis)
        share = "share of rounds whose second best\nvertex is within $\\varepsilon$ of the best"
        axis.set(xlabel=r"margin $\varepsilon$", ylabel=share)
        finish(figure, {"measured": measured[0], curve: assumed[0]}, title)
        return figure

    return Sheet("margin", draw, table)


def _oracle_sheet(groups: list[Group], title: str, request: Request) -> Sheet:
    """The oracle's share of the seconds of a round, one bar per algorithm."""
    styles = line_styles([group.algorithm for group in groups], request.labels)
    names = [label(styles[group.algorithm].name, group.varying) for group in groups]
    shares = [float(group.extras["oracle_share"]) for group in groups]

    def draw() -> Figure:
        figure, (axis,) = new_figure(1, request, 0.95 + 0.25 * len(shares))
        colours = [styles[group.algorithm].colour for group in groups]
        axis.barh(range(len(shares)), shares, color=colours, height=0.6)
        axis.set_yticks(range(len(shares)), names)
        axis.invert_yaxis()
        axis.set(xlim=(0, 1), xlabel="the oracle's share of the seconds of a round")
        finish(figure, {}, title)
        return figure

    return Sheet("oracle_share", draw, pd.DataFrame({"algorithm": names, "share": shares}))
