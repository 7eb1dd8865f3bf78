"""How often a decision is nearly tied, beside the curve of Assumption 2."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from odfl_cli.plotting.canvas import finish, logarithmic, new_figure
from odfl_cli.plotting.figure_files import Sheet
from odfl_cli.plotting.request import Request
from odfl_cli.plotting.style import GREY, INK


def margin_sheet(margin: Mapping[str, Any], title: str, request: Request) -> Sheet:
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
