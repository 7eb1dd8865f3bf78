"""Which figures there are: each with a file name, its numbers and its title."""

from collections.abc import Iterable

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib import rc_context
from matplotlib.axes import Axes

from odfl_cli.plotting.diagnostics import diagnostic_sheets
from odfl_cli.plotting.figure_files import Sheet
from odfl_cli.plotting.figures import (
    Frame,
    draw_curves,
    draw_gap,
    draw_gap_rows,
    draw_panel,
    draw_rates,
    draw_sweep,
    finish,
    shown_slope,
    styled,
)
from odfl_cli.plotting.style import INK, LineStyle, column_words, line_styles, plain, theme
from odfl_cli.results.aggregation import (
    Line,
    curve_slope,
    curves,
    gaps,
    sweep,
    sweep_slopes,
    tabulate,
)
from odfl_cli.results.grouping import Group
from odfl_cli.results.names import REFERENCES

CURVES = {
    "cost": ["avg_cost"],
    "mse": ["avg_mse"],
    "regret": ["avg_regret"],
    "overview": ["avg_cost", "avg_mse"],
    "expected_cost": ["expected_cost"],
    "comparators": ["avg_static_regret", "avg_dynamic_regret"],
    "path_length": ["path_length"],
}
NOTEBOOK_SIZE = 6.9, 3.2  # inches
RATES = ("avg_static_regret", "avg_dynamic_regret")


def curve_sheets(groups: list[Group], frame: Frame) -> list[Sheet]:
    """Every figure against the rounds whose columns the runs have."""
    wanted = dict.fromkeys(column for columns in CURVES.values() for column in columns)
    found = {column: lines for column in wanted if (lines := curves(groups, column))}
    sheets = [
        _curve_sheet(stem, {column: found[column] for column in columns}, groups, frame)
        for stem, columns in CURVES.items()
        if all(column in found for column in columns)
    ]
    if all(column in found for column in RATES):
        sheets.append(_rates_sheet({column: found[column] for column in RATES}, groups, frame))
    return [*sheets, *diagnostic_sheets(groups, _titled(frame, groups, found["avg_cost"]))]


def sweep_sheet(
    groups: list[Group], key: str, column: str, frame: Frame, loglog: bool = False
) -> Sheet:
    """The final value of a column against a key; on logarithmic axes with its slope."""
    lines = sweep(groups, key, column)
    drawn = styled(lines, line_styles([group.algorithm for group in groups]))
    slopes = sweep_slopes(groups, key, column) if loglog else None
    figure = draw_sweep(drawn, key, column, _titled(frame, groups, lines), slopes)
    stem = f"x_{key.replace('/', '_')}"
    numbers = tabulate([one.line for one in drawn], x=key)
    if slopes is not None:
        for place, name in enumerate(("slope", "slope_ci95")):
            numbers[name] = [slopes[algorithm][place] for algorithm in numbers["algorithm"]]
    return Sheet(stem, figure, numbers)


def gap_sheet(
    groups: list[Group], pair: tuple[str, str], column: str, key: str | None, frame: Frame
) -> Sheet:
    """The paired difference of two algorithms, against a key or in rows."""
    lines = gaps(groups, *pair, column, key)
    names = " − ".join(plain(line_styles(list(pair))[name].name) for name in pair)
    gap_label = f"gap in final {column_words(column)}\n{names}"
    # The axis names the algorithms: a pair needs no name but for what tells it from others.
    drawn = styled(lines, {line.algorithm: LineStyle("", INK) for line in lines})
    numbers = tabulate([one.line for one in drawn], x=key or "x")
    numbers = numbers.rename(columns={"algorithm": "gap"})
    frame = _titled(frame, groups, lines)
    if key is None:
        return Sheet("gap", draw_gap_rows(drawn, gap_label, frame), numbers.drop(columns="x"))
    return Sheet("gap", draw_gap(drawn, key, gap_label, frame), numbers)


def curve_axes(groups: list[Group], column: str, axis: Axes | None = None) -> Axes:
    """A column against the rounds, on the axes given or on those of a new figure of pyplot's."""
    lines = curves(groups, column)
    drawn = styled(lines, line_styles([group.algorithm for group in groups]))
    with rc_context(theme()):
        if axis is not None:
            draw_panel(axis, column, drawn, _marks(groups))
            axis.legend(frameon=False)
            return axis
        figure, axis = plt.subplots(figsize=NOTEBOOK_SIZE, layout="constrained")
        draw_panel(axis, column, drawn, _marks(groups))
        names = [one.name for one in drawn]
        finish(figure, axis, names, _titled(Frame("", "double"), groups, lines))
        return axis


def _curve_sheet(
    stem: str, found: dict[str, list[Line]], groups: list[Group], frame: Frame
) -> Sheet:
    styles = line_styles([group.algorithm for group in groups])
    panels = {column: styled(lines, styles) for column, lines in found.items()}
    tables = []
    for column, drawn in panels.items():
        table = tabulate([one.line for one in drawn], x="t")
        tables.append(table.assign(column=column) if len(panels) > 1 else table)
    every_line = [line for lines in found.values() for line in lines]
    figure = draw_curves(panels, _titled(frame, groups, every_line), _marks(groups))
    return Sheet(stem, figure, pd.concat(tables, ignore_index=True))


def _rates_sheet(found: dict[str, list[Line]], groups: list[Group], frame: Frame) -> Sheet:
    """Regret per round on logarithmic axes: its slope, and the theorem's bound where it is known."""
    styles = line_styles([group.algorithm for group in groups])
    panels, slopes, tables = {}, {}, []
    for column, lines in found.items():
        panels[column] = [
            one for one in styled(lines, styles) if one.line.algorithm not in REFERENCES
        ]
        of_line = {
            id(line): curve_slope(group, column)
            for line, group in zip(lines, _having(groups, column), strict=True)
        }
        slopes[column] = {i: of_line[id(one.line)] for i, one in enumerate(panels[column])}
        for i, one in enumerate(panels[column]):
            slope, ci95 = slopes[column][i]
            tables.append(
                tabulate([one.line], x="t").assign(column=column, slope=slope, slope_ci95=ci95)
            )
    learners = [group for group in groups if group.algorithm not in REFERENCES]
    bounds = {}
    for column in found:
        bounded = [group for group in learners if bounded_regret(group) == column]
        bounds[column] = styled(curves(bounded, "avg_bound"), styles)
    every_line = [one.line for drawn in panels.values() for one in drawn]
    words = {
        place: " and ".join(shown_slope(of_column[place]) for of_column in slopes.values())
        for place in range(len(every_line) // len(panels))
    }
    named = {
        column: [one._replace(name=f"{one.name}, slopes {words[i]}") for i, one in enumerate(drawn)]
        for column, drawn in panels.items()
    }
    figure = draw_rates(named, bounds, _titled(frame, groups, every_line))
    return Sheet("rates", figure, pd.concat(tables, ignore_index=True))


def bounded_regret(group: Group) -> str:
    """The regret that the algorithm's theorem is about: static for DF-FTPL, dynamic for DF-OGD."""
    target = str(group.settings.get("algo._target_", ""))
    is_ftpl = group.algorithm == "df_ftpl" or target.endswith(".DFFTPL")
    return "avg_static_regret" if is_ftpl else "avg_dynamic_regret"


def _marks(groups: list[Group]) -> list[int]:
    """The rounds in which an environment changes."""
    return sorted({mark for group in groups for mark in group.extras.get("marks", ())})


def _having(groups: list[Group], column: str) -> list[Group]:
    """The groups that `curves` makes a line of."""
    return [group for group in groups if curves([group], column)]


def _titled(frame: Frame, groups: list[Group], lines: list[Line]) -> Frame:
    """Puts K, T and the number of seeds below the user's title."""
    items = [group.settings["data.items"] for group in groups if "data.items" in group.settings]
    seeds = _span(count for line in lines for count in line.points["seeds"])
    facts = [
        *([f"$K$ = {_span(items)}"] if items else []),
        f"$T$ = {_span(group.rounds for group in groups)}",
        f"{seeds} seed" if seeds == "1" else f"{seeds} seeds",
    ]
    title = [*([plain(frame.title)] if frame.title else []), ",  ".join(facts)]
    return frame._replace(title="\n".join(title))


def _span(numbers: Iterable[int]) -> str:
    values = sorted(set(numbers))
    return str(values[0]) if len(values) == 1 else f"{values[0]}–{values[-1]}"
