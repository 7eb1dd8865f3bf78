"""Colours and line styles, the same in every figure and on the page of `odfl report`."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from odfl_cli.results.aggregation import Line
from odfl_cli.results.grouping import Group, Settings, freeze, sort_key
from odfl_cli.results.words import ALGORITHMS, REFERENCES, display_name, label

Colour = tuple[float, float, float]
Dashes = str | tuple[int, tuple[float, ...]]


GREY, DARK, INK = (0.5, 0.5, 0.5), (0.35, 0.35, 0.35), (0.15, 0.15, 0.15)
COLOURS: dict[str, Colour] = {  # the palette "colorblind" of seaborn, whose import is slow
    "blue": (1, 115, 178), "orange": (222, 143, 5), "green": (2, 158, 115), "red": (213, 94, 0),
    "purple": (204, 120, 188), "brown": (202, 145, 97), "pink": (251, 175, 228),
    "yellow": (236, 225, 51), "sky": (86, 180, 233),
}  # fmt: skip
COLOURS = {name: (r / 255, g / 255, b / 255) for name, (r, g, b) in COLOURS.items()}
COLOURS |= {"grey": GREY, "dark": DARK, "ink": INK}
FREE_COLOURS = [COLOURS[name] for name in ("sky", "brown", "pink", "yellow")]
FREE_DASHES: tuple[Dashes, ...] = ((0, (3, 1)), (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 1)))
"""Colours and dashes for algorithms that words.yaml does not list."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


class LineStyle(NamedTuple):
    """The line of an algorithm; a marker distinguishes curves of the same algorithm."""

    name: str
    colour: Colour
    dashes: Dashes = "-"
    width: float = 1.4
    marker: str = ""
    mark_from: float = 0.0  # where the first marker is, as a share of the distance between two


def _read_style(name: str, look: Mapping[str, Any]) -> LineStyle:
    dashes: Dashes = (0, tuple(look["dashes"])) if "dashes" in look else "-"
    rest = {key: look[key] for key in ("width", "marker") if key in look}
    return LineStyle(display_name(name), COLOURS[look["colour"]], dashes, **rest)


LINE_STYLES = {name: _read_style(name, look) for name, look in ALGORITHMS.items()}


class Drawn(NamedTuple):
    """A line, or a group of runs, with its style and name in all figures."""

    line: Any
    style: LineStyle
    name: str

    def add_facts(self, facts: Settings) -> "Drawn":
        """The same with further columns in the line's numbers."""
        return self._replace(line=replace(self.line, facts={**self.line.facts, **facts}))


def apply_styles(lines: Sequence[Line | Group], styles: Mapping[str, LineStyle]) -> list[Drawn]:
    """Every line with its style and name, in the order of the legend: references last.

    Lines of several panels that have the same settings have the same style.
    """
    order = list(styles)
    ranked = sorted(lines, key=lambda line: _rank(line, order))
    alike: dict[str, dict[Any, int]] = {}
    for line in ranked:
        places = alike.setdefault(line.algorithm, {})
        places.setdefault(freeze(line.varying), len(places))
    drawn = []
    for line in ranked:
        style, places = styles[line.algorithm], alike[line.algorithm]
        shade = variant(style, places[freeze(line.varying)], len(places))
        drawn.append(Drawn(line, shade, label(style.name, line.varying)))
    return drawn


def line_styles(
    algorithms: list[str], labels: Mapping[str, str] | None = None
) -> dict[str, LineStyle]:
    """A style for each algorithm; `labels` replace names in legends.

    The checksum of its name chooses the style of an algorithm that is not listed above, so that it
    is the same in every figure unless another algorithm of the figure has it, or a listed one has
    its colour. Where all are taken, markers distinguish.
    """
    styles, free = dict(LINE_STYLES), [*product(FREE_COLOURS, FREE_DASHES)]
    listed = {LINE_STYLES[name].colour for name in algorithms if name in LINE_STYLES}
    unused = [look for look in free if look[0] not in listed]
    taken: list[tuple[Colour, Dashes]] = []
    for name in sorted(set(algorithms).difference(LINE_STYLES)):
        first = zlib.crc32(name.encode()) % len(free)
        order = [look for look in (*free[first:], *free[:first]) if look in unused] + free
        times = [taken.count(look) for look in order]
        look = order[times.index(min(times))]
        is_clear = look in unused and min(times) == 0
        marker = "" if is_clear else MARKERS[len(taken) % len(MARKERS)]
        taken.append(look)
        styles[name] = LineStyle(display_name(name), *look, marker=marker)
    return {
        name: style._replace(name=(labels or {}).get(name, style.name))
        for name, style in styles.items()
    }


def variant(style: LineStyle, place: int, count: int) -> LineStyle:
    """The style of one of several curves of an algorithm: from dark to light, each with its marker."""
    if count == 1:
        return style
    share = place / (count - 1)  # 0 is darkest
    if style.colour == INK:  # which cannot be darker
        share = (1 + share) / 2
    shaded = _mix(style.colour, INK, 0.45 * (1 - 2 * share)) if share < 0.5 else style.colour
    lit = _mix(shaded, (1.0, 1.0, 1.0), 0.55 * (2 * share - 1)) if share > 0.5 else shaded
    marker = MARKERS[place % len(MARKERS)]
    return style._replace(colour=lit, marker=marker, mark_from=place / count)


def theme() -> dict[Any, Any]:
    """The settings of matplotlib for all figures."""
    from matplotlib import rc_params_from_file

    path = Path(__file__).with_name("odfl.mplstyle")
    return dict(rc_params_from_file(path, use_default_template=False))


def _rank(line: Line | Group, order: list[str]) -> tuple[bool, int, list[Any]]:
    varying = [(key, sort_key(value)) for key, value in line.varying.items()]
    return line.algorithm in REFERENCES, order.index(line.algorithm), varying


def _mix(colour: Colour, other: Colour, share: float) -> Colour:
    red, green, blue = ((1 - share) * a + share * b for a, b in zip(colour, other, strict=True))
    return red, green, blue
