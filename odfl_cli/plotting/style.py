"""Colours, line styles and labels, the same in every figure."""

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import seaborn as sns

from odfl_cli.results.names import ALGORITHMS

Colour = tuple[float, float, float]
Dashes = str | tuple[int, tuple[float, ...]]

PALETTE: list[Colour] = list(sns.color_palette("colorblind"))
BLUE, ORANGE, GREEN, RED, PURPLE, BROWN, PINK, _, YELLOW, SKY = PALETTE
FREE_COLOURS = (SKY, BROWN, PINK, YELLOW)  # for algorithms that are not ours
FREE_DASHES: tuple[Dashes, ...] = ((0, (3, 1)), (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), "-")
GREY, INK = (0.5, 0.5, 0.5), (0.15, 0.15, 0.15)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

WIDTHS = {"single": 3.4, "double": 6.9}  # inches: one and two columns of a paper


class LineStyle(NamedTuple):
    """The line of an algorithm. A marker tells curves of the same algorithm apart."""

    name: str
    colour: Colour
    dashes: Dashes = "-"
    width: float = 1.4
    marker: str = ""
    mark_from: float = 0.0  # where the first marker is, as a share of the distance between two


_STYLES: dict[str, tuple[Any, ...]] = {
    "df_ogd": (BLUE, "-"),
    "df_ftpl": (ORANGE, (0, (5, 1.5))),
    "pf_ogd": (GREEN, (0, (6, 1.5, 1.2, 1.5))),
    "spo": (RED, (0, (1.2, 1.2))),
    "spo_printed": (PURPLE, (0, (3, 1.2, 1.2, 1.2, 1.2, 1.2))),
    "df_moments": (INK, "-", 1.8),
    "guard": (INK, (0, (4, 1.5))),
    "vote": (INK, (0, (1.2, 1.2))),
    "rls": (BROWN, "-"),
    "rls_forgetting": (BROWN, (0, (4, 1.5))),
    "rls_adaptive": (BROWN, (0, (5, 1, 1, 1))),
    "restart": (PINK, (0, (7, 1.5))),
    "fenchel_young": (SKY, (0, (2, 1))),
    "perturbed": (YELLOW, (0, (5, 1, 1, 1))),
    "policy_gradient": (BROWN, (0, (1.2, 1.2))),
    "hedge": (PINK, (0, (2, 1))),
    "ogd": (SKY, "-"),
    "df_ogd_endpoint": (BLUE, (0, (1.2, 1.2))),
    "uniform": (GREY, "-", 0.8),
    "frozen": (GREY, (0, (1.2, 1.2)), 0.8),
    "clairvoyant": (GREY, (0, (4, 2)), 0.8),
}
LINE_STYLES = {name: LineStyle(ALGORITHMS[name], *style) for name, style in _STYLES.items()}

COLUMNS = {
    "avg_cost": ("average cost", r"$t^{-1}\sum_{s\leq t}\,\langle c_s, w_s\rangle$"),
    "avg_mse": ("average MSE", r"$t^{-1}\sum_{s\leq t}\,\|\hat{c}_s-c_s\|^2/d$"),
    "avg_regret": ("average regret", r"$R_t\,/\,t$ above each round's best"),
    "avg_static_regret": (
        "average static regret",
        r"$t^{-1}(\sum_{s\leq t} f_s(\theta_s)-\min_\theta\sum_{s\leq t} f_s(\theta))$",
    ),
    "avg_expected_static_regret": (
        "expected static regret",
        r"$t^{-1}(\sum_{s\leq t} F_s(\theta_s)-\min_\theta\sum_{s\leq t} F_s(\theta))$",
    ),
    "avg_dynamic_regret": (
        "average dynamic regret",
        r"$t^{-1}\sum_{s\leq t}(F_s(\theta_s)-\min_\theta F_s(\theta))$",
    ),
    "expected_cost": ("expected cost", r"$F_t(\theta_t)$"),
    "path_length": ("path length of the oracle", "$P_t$"),
    "alpha": ("smoothing", r"$\alpha_t$"),
    "eta": ("step size", r"$\eta_t$"),
    "cost": ("cost of the round", r"$\langle c_t, w_t\rangle$"),
    "mse": ("MSE of the round", r"$\|\hat{c}_t-c_t\|^2/d$"),
    "best_cost": ("best cost of the round", r"$\min_w\,\langle c_t, w\rangle$"),
    "regret": ("regret", r"$R_t$ above each round's best"),
}

KEYS = {
    "data.gamma": ("misspecification", r"$\gamma$"),
    "data.items": ("items", "$K$"),
    "data.features": ("features", "$p$"),
    "data.rho": ("correlation of the items", r"$\rho$"),
    "data.amplitude": ("amplitude", "$A$"),
    "data.noise_std": ("noise", r"$\sigma_\varepsilon$"),
    "data.theta_star_norm": ("norm of the hidden parameter", r"$\|\theta^\star\|$"),
    "horizon.rounds": ("rounds", "$T$"),
    "algo.c_alpha": ("smoothing constant", r"$c_\alpha$"),
    "algo.c_eta": ("step-size constant", r"$c_\eta$"),
    "algo.eta": ("step size", r"$\eta$"),
    "theta_radius": (r"radius of $\Theta$", "$R$"),
}


def line_styles(algorithms: list[str]) -> dict[str, LineStyle]:
    """A style for each algorithm: ours keep theirs, others take the free colours by name."""
    others = sorted(set(algorithms).difference(LINE_STYLES))
    free = {
        name: LineStyle(name, FREE_COLOURS[place % 4], FREE_DASHES[place % 4])
        for place, name in enumerate(others)
    }
    return LINE_STYLES | free


def variant(style: LineStyle, place: int, count: int) -> LineStyle:
    """The style of one of several curves of an algorithm: from dark to light, each its marker."""
    if count == 1:
        return style
    share = place / (count - 1)  # 0 is darkest
    shaded = _mix(style.colour, INK, 0.45 * (1 - 2 * share)) if share < 0.5 else style.colour
    lit = _mix(shaded, (1.0, 1.0, 1.0), 0.55 * (2 * share - 1)) if share > 0.5 else shaded
    marker = MARKERS[place % len(MARKERS)]
    return style._replace(colour=lit, marker=marker, mark_from=place / count)


def label(name: str, varying: Mapping[str, Any]) -> str:
    """The name of a curve in a legend: DF-OGD, γ = 0.5."""
    settings = [f"{symbol(key)} = {shown(value)}" for key, value in varying.items()]
    return ", ".join(filter(None, [plain(name), *settings]))


def symbol(key: str) -> str:
    """The paper's symbol for a key, or the key."""
    return KEYS[key][1] if key in KEYS else plain(key)


def key_label(key: str) -> str:
    """A key in words, with the paper's symbol."""
    return "  ".join(KEYS[key]) if key in KEYS else plain(key)


def column_words(column: str) -> str:
    """A column in words."""
    return COLUMNS[column][0] if column in COLUMNS else plain(column)


def column_label(column: str, final: bool = False) -> str:
    """A column in words, with its formula on a second line; after the last round t is T."""
    words, formula = column_words(column), COLUMNS.get(column, ("", ""))[1]
    if final:
        formula = formula.replace("t^{-1}", "T^{-1}").replace(r"\leq t", r"\leq T")
        formula = formula.replace("R_t", "R_T").replace(r"\,/\,t$", r"\,/\,T$")
        words = f"final {words}"
    return f"{words}\n{formula}".rstrip()


def shown(value: object) -> str:
    """A value of the config, short enough for a legend."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return plain(text if len(text) <= 24 else f"{text[:23]}…")


def plain(text: str) -> str:
    """Text that matplotlib does not take for a formula."""
    return text.replace("$", r"\$")


def theme() -> dict[Any, Any]:
    """The settings of matplotlib for all figures: seaborn's paper theme, and embedded TrueType fonts."""
    sizes = {"font.size": 8, "axes.labelsize": 8, "axes.titlesize": 8, "legend.fontsize": 7.5}
    return {
        **sns.axes_style("ticks"),
        **sns.plotting_context("paper"),
        **sizes,
        **dict.fromkeys(("xtick.labelsize", "ytick.labelsize"), 7.5),
        **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width"), 0.7),
        **dict.fromkeys(("xtick.major.size", "ytick.major.size"), 3),
        "font.sans-serif": ["DejaVu Sans"],
        "pdf.fonttype": 42,
        "ps.fonttype": 42,
        "axes.formatter.useoffset": False,
    }


def legend_columns(names: list[str], width: float) -> int:
    """How many columns of names fit side by side into so many inches, evenly filled."""
    if not names:
        return 1
    widths = [0.6 + 0.062 * len(_without_markup(name)) for name in names]  # handle, 7.5 pt letters
    for rows in range(1, len(names)):
        columns = math.ceil(len(names) / rows)
        if sum(max(column) for column in np.array_split(widths, columns)) <= width:
            return columns
    return 1


def _mix(colour: Colour, other: Colour, share: float) -> Colour:
    red, green, blue = ((1 - share) * a + share * b for a, b in zip(colour, other, strict=True))
    return red, green, blue


def _without_markup(text: str) -> str:
    return re.sub(r"[$_{}^]", "", re.sub(r"\\[a-z]+", "x", text))
