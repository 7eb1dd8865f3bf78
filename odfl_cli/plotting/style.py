"""Colours and line styles, the same in every figure and on the page of `odfl report`."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from odfl_cli.plotting.words import label
from odfl_cli.results.grouping import sort_key
from odfl_cli.results.names import REFERENCES, display_name

if TYPE_CHECKING:  # it imports pandas, which --help should not
    from odfl_cli.results.aggregation import Line

Colour = tuple[float, float, float]
Dashes = str | tuple[int, tuple[float, ...]]


def _colour(code: int) -> Colour:
    red, green, blue = (part / 255 for part in code.to_bytes(3, "big"))
    return red, green, blue


# The palette "colorblind" of seaborn, whose import would take longer than the drawing.
BLUE, ORANGE, GREEN, RED, PURPLE, BROWN, PINK, YELLOW, SKY = map(
    _colour,
    (0x0173B2, 0xDE8F05, 0x029E73, 0xD55E00, 0xCC78BC, 0xCA9161, 0xFBAFE4, 0xECE133, 0x56B4E9),
)
FREE_COLOURS = (SKY, BROWN, PINK, YELLOW)  # of algorithms without a style of their own
FREE_DASHES: tuple[Dashes, ...] = ((0, (3, 1)), (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 1)))
GREY, INK = (0.5, 0.5, 0.5), (0.15, 0.15, 0.15)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

WIDTHS = {"single": 3.4, "double": 6.9}  # inches: one and two columns of a paper


class LineStyle(NamedTuple):
    """The line of an algorithm; a marker distinguishes curves of the same algorithm."""

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
LINE_STYLES = {name: LineStyle(display_name(name), *style) for name, style in _STYLES.items()}


class Drawn(NamedTuple):
    """A line with the style and the name it has in every figure."""

    line: Line
    style: LineStyle
    name: str


def apply_styles(lines: list[Line], styles: Mapping[str, LineStyle]) -> list[Drawn]:
    """Every line with its style and name, in the order of the legend: references last."""
    order = list(styles)
    ranked = sorted(lines, key=lambda line: _rank(line, order))
    drawn = []
    for line in ranked:
        alike = [id(other) for other in ranked if other.algorithm == line.algorithm]
        style = variant(styles[line.algorithm], alike.index(id(line)), len(alike))
        drawn.append(Drawn(line, style, label(style.name, line.varying)))
    return drawn


def line_styles(
    algorithms: list[str], labels: Mapping[str, str] | None = None
) -> dict[str, LineStyle]:
    """A style for each algorithm; `labels` are names in legends, instead of ours.

    The checksum of its name chooses the style of an algorithm that is not listed above, so that it
    is the same in every figure unless another algorithm of the figure has it.
    """
    styles, free = dict(LINE_STYLES), [*product(FREE_COLOURS, FREE_DASHES)]
    taken: set[int] = set()
    for name in sorted(set(algorithms).difference(LINE_STYLES)):
        first = zlib.crc32(name.encode())
        places = [(first + step) % len(free) for step in range(len(free))]
        place = next((place for place in places if place not in taken), places[0])
        taken.add(place)
        styles[name] = LineStyle(display_name(name), *free[place])
    return {
        name: style._replace(name=(labels or {}).get(name, style.name))
        for name, style in styles.items()
    }


def variant(style: LineStyle, place: int, count: int) -> LineStyle:
    """The style of one of several curves of an algorithm: from dark to light, each its marker."""
    if count == 1:
        return style
    share = place / (count - 1)  # 0 is darkest
    shaded = _mix(style.colour, INK, 0.45 * (1 - 2 * share)) if share < 0.5 else style.colour
    lit = _mix(shaded, (1.0, 1.0, 1.0), 0.55 * (2 * share - 1)) if share > 0.5 else shaded
    marker = MARKERS[place % len(MARKERS)]
    return style._replace(colour=lit, marker=marker, mark_from=place / count)


def theme() -> dict[Any, Any]:
    """The settings of matplotlib for all figures: small type, few lines, embedded TrueType fonts."""
    ink = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    return {
        **dict.fromkeys(ink, INK),
        **dict.fromkeys(("font.size", "axes.labelsize", "axes.titlesize"), 8),
        **dict.fromkeys(("legend.fontsize", "xtick.labelsize", "ytick.labelsize"), 7.5),
        **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width"), 0.7),
        **dict.fromkeys(("xtick.major.size", "ytick.major.size"), 3),
        **dict.fromkeys(("axes.spines.top", "axes.spines.right"), False),
        "figure.titlesize": 8.5,
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "lines.solid_capstyle": "round",
        "pdf.fonttype": 42,
        "ps.fonttype": 42,
        "svg.hashsalt": "odfl",  # else the names inside an SVG are random
        "axes.formatter.useoffset": False,
    }


def _rank(line: Line, order: list[str]) -> tuple[bool, int, list[Any]]:
    varying = [(key, sort_key(value)) for key, value in line.varying.items()]
    return line.algorithm in REFERENCES, order.index(line.algorithm), varying


def _mix(colour: Colour, other: Colour, share: float) -> Colour:
    red, green, blue = ((1 - share) * a + share * b for a, b in zip(colour, other, strict=True))
    return red, green, blue
