"""Which figures there are: each with a file name, its numbers and its title."""

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from odfl_cli.plotting.aggregate import Line, curves, gaps, sweep, tabulate
from odfl_cli.plotting.figure_style import INK, Look, column_words, looks, plain
from odfl_cli.plotting.figures import Frame, draw_curves, draw_gap, draw_gap_rows, draw_sweep, dress
from odfl_cli.plotting.grouping import Group

CURVES = {
    "cost": ["avg_cost"],
    "mse": ["avg_mse"],
    "regret": ["avg_regret"],
    "overview": ["avg_cost", "avg_mse"],
}


class Sheet(NamedTuple):
    """A figure, and its numbers, under one file name."""

    stem: str
    figure: Figure
    numbers: pd.DataFrame


def curve_sheets(groups: list[Group], frame: Frame) -> list[Sheet]:
    """Cost, MSE and regret against the rounds, and the paper's main figure."""
    found = {
        column: lines
        for column in ("avg_cost", "avg_mse", "avg_regret")
        if (lines := curves(groups, column))
    }
    return [
        _curve_sheet(stem, {column: found[column] for column in columns}, groups, frame)
        for stem, columns in CURVES.items()
        if all(column in found for column in columns)
    ]


def sweep_sheet(groups: list[Group], key: str, column: str, frame: Frame) -> Sheet:
    """The final value of a column against a key."""
    lines = sweep(groups, key, column)
    drawn = dress(lines, looks([group.algorithm for group in groups]))
    figure = draw_sweep(drawn, key, column, _titled(frame, groups, lines))
    stem = f"x_{key.replace('/', '_')}"
    return Sheet(stem, figure, tabulate([one.line for one in drawn], x=key))


def gap_sheet(
    groups: list[Group], pair: tuple[str, str], column: str, key: str | None, frame: Frame
) -> Sheet:
    """The paired difference of two algorithms, against a key or in rows."""
    lines = gaps(groups, *pair, column, key)
    names = " − ".join(plain(looks(list(pair))[name].name) for name in pair)
    gap_label = f"gap in final {column_words(column)}\n{names}"
    # The axis names the algorithms: a pair needs no name but for what tells it from others.
    drawn = dress(lines, {line.algorithm: Look("", INK) for line in lines})
    numbers = tabulate([one.line for one in drawn], x=key or "x")
    numbers = numbers.rename(columns={"algorithm": "gap"})
    frame = _titled(frame, groups, lines)
    if key is None:
        return Sheet("gap", draw_gap_rows(drawn, gap_label, frame), numbers.drop(columns="x"))
    return Sheet("gap", draw_gap(drawn, key, gap_label, frame), numbers)


def _curve_sheet(
    stem: str, found: dict[str, list[Line]], groups: list[Group], frame: Frame
) -> Sheet:
    dresses = looks([group.algorithm for group in groups])
    panels = {column: dress(lines, dresses) for column, lines in found.items()}
    tables = []
    for column, drawn in panels.items():
        table = tabulate([one.line for one in drawn], x="t")
        tables.append(table.assign(column=column) if len(panels) > 1 else table)
    every_line = [line for lines in found.values() for line in lines]
    figure = draw_curves(panels, _titled(frame, groups, every_line))
    return Sheet(stem, figure, pd.concat(tables, ignore_index=True))


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
