"""Figures of what a run says beside its rounds: margins of the decisions, the oracle's share."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from odfl_cli.plotting.figure_files import Sheet
from odfl_cli.plotting.figures import Frame, finish, new_figure
from odfl_cli.plotting.style import GREY, INK, label, line_styles
from odfl_cli.results.grouping import Group


def diagnostic_sheets(groups: list[Group], frame: Frame) -> list[Sheet]:
    """Those for which the runs have the numbers."""
    margins = next((group.extras["margin"] for group in groups if group.extras.get("margin")), None)
    shares = [group for group in groups if group.extras.get("oracle_share") is not None]
    return [
        *([_margin_sheet(margins, frame)] if margins else []),
        *([_oracle_sheet(shares, frame)] if shares else []),
    ]


def _margin_sheet(margin: Mapping[str, Any], frame: Frame) -> Sheet:
    """How often a margin is below ε, and the curve of Assumption 2 above it."""
    table = pd.DataFrame({"epsilon": margin["epsilon"], "share": margin["share"]})
    table["curve"] = margin["c0"] * table["epsilon"] ** margin["beta"]
    names = [
        "measured",
        rf"$C_0\varepsilon^\beta$, $C_0$ = {margin['c0']:.3g}, $\beta$ = {margin['beta']:.2f}",
    ]
    figure, (axis,) = new_figure(1, names, frame)
    axis.plot(table["epsilon"], table["share"], color=INK, marker="o", markersize=3, label=names[0])
    axis.plot(table["epsilon"], table["curve"], color=GREY, linestyle="--", label=names[1])
    axis.set(
        xscale="log",
        yscale="log",
        xlabel=r"margin $\varepsilon$",
        ylabel="share of rounds whose second best\nvertex is within "
        + r"$\varepsilon$ of the best",
    )
    finish(figure, axis, names, frame)
    return Sheet("margin", figure, table)


def _oracle_sheet(groups: list[Group], frame: Frame) -> Sheet:
    """The oracle's share of the seconds of a round, one bar per algorithm."""
    styles = line_styles([group.algorithm for group in groups])
    names = [label(styles[group.algorithm].name, group.varying) for group in groups]
    shares = [float(group.extras["oracle_share"]) for group in groups]
    figure, (axis,) = new_figure(1, [], frame, height=0.95 + 0.25 * len(groups))
    colours = [styles[group.algorithm].colour for group in groups]
    axis.barh(np.arange(len(groups)), shares, color=colours, height=0.6)
    axis.set_yticks(range(len(groups)), names)
    axis.invert_yaxis()
    axis.set(xlim=(0, 1), xlabel="the oracle's share of the seconds of a round")
    finish(figure, axis, [], frame)
    return Sheet("oracle_share", figure, pd.DataFrame({"algorithm": names, "share": shares}))
