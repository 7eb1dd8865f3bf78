"""Which figures a request asks for: each with a file name, its numbers and its title."""

from collections.abc import Iterable, Mapping
from functools import partial

import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes

from odfl_cli.core.errors import UserError
from odfl_cli.core.text import tell
from odfl_cli.plotting.canvas import finish
from odfl_cli.plotting.curves import (
    draw_curves,
    draw_gap_curves,
    draw_panel,
    draw_rates,
    draw_sections,
    shown_slope,
)
from odfl_cli.plotting.diagnostics import diagnostic_sheets
from odfl_cli.plotting.figure_files import Sheet
from odfl_cli.plotting.points import draw_gap, draw_gap_rows, draw_heatmap, draw_sweep
from odfl_cli.plotting.request import Request
from odfl_cli.plotting.style import INK, Drawn, LineStyle, apply_styles, line_styles, theme
from odfl_cli.plotting.words import column_label, column_words, label, plain, symbol
from odfl_cli.results.aggregation import (
    Line,
    bounded_regret,
    check_column,
    curve_slope,
    curves,
    sweep,
    sweep_slopes,
    tabulate,
    without,
)
from odfl_cli.results.gaps import Gap
from odfl_cli.results.grouping import Group, check_key, group_runs, runs_with, sort_key
from odfl_cli.results.names import REFERENCES
from odfl_cli.results.tables import Run

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


def sheets(runs: list[Run], request: Request) -> list[Sheet]:
    """The figures of runs that belong together; only runs that appear count for what differs."""
    if request.gap:
        runs = request.gap.runs(runs)
        for key in request.x:
            check_key(runs, key)
        return gap_sheets(group_runs(runs), request.gap, request)
    for key in request.x:
        runs = runs_with(runs, key, tell)
    groups = group_runs(runs)
    if request.x:
        return [sweep_sheet(groups, request)]
    if request.y:
        check_column(groups, request.y)
        return [_curve_sheet(request.y, {request.y: curves(groups, request.y)}, groups, request)]
    return curve_sheets(groups, request)


def curve_sheets(groups: list[Group], request: Request) -> list[Sheet]:
    """Every column that has a figure of its own and that the runs have, against the rounds."""
    wanted = dict.fromkeys(column for columns in CURVES.values() for column in columns)
    found = {column: lines for column in wanted if (lines := curves(groups, column))}
    drawn = [
        _curve_sheet(stem, {column: found[column] for column in columns}, groups, request)
        for stem, columns in CURVES.items()
        if all(column in found for column in columns)
    ]
    if all(column in found for column in RATES):
        drawn.append(_rates_sheet({column: found[column] for column in RATES}, groups, request))
    if bounds := _bounds_sheet(groups, request):
        drawn.append(bounds)
    return [*drawn, *diagnostic_sheets(groups, _title(groups, found["avg_cost"], request), request)]


def sections_sheet(sections: Mapping[str, list[Run]], request: Request) -> Sheet:
    """One figure of a column, a panel for each section."""
    drawn, tables, every = {}, [], []
    for name, runs in sections.items():
        groups = group_runs(runs)
        check_column(groups, request.column)
        lines = curves(groups, request.column)
        drawn[name] = _apply_styles(lines, groups, request)
        tables.append(tabulate([one.line for one in drawn[name]], x="t").assign(sweep=name))
        every += lines
    title = request.titled(_seeds(every))
    draw = partial(draw_sections, drawn, request.column, title, request)
    return Sheet("panels", draw, pd.concat(tables, ignore_index=True))


def sweep_sheet(groups: list[Group], request: Request) -> Sheet:
    """The final value of the column against one key or two; on logarithmic axes with its slope."""
    key, column = request.x[0], request.column
    lines = sweep(groups, key, column)
    title = _title(groups, lines, request)
    drawn = _apply_styles(lines, groups, request)
    if len(request.x) == 2:
        return _heatmap_sheet(drawn, column_label(column, final=True), title, request)
    slopes = sweep_slopes(groups, key, column) if request.loglog else None
    numbers = tabulate([one.line for one in drawn], x=key)
    if slopes is not None:
        for place, name in enumerate(("slope", "slope_ci95")):
            numbers[name] = [slopes[algorithm][place] for algorithm in numbers["algorithm"]]
    draw = partial(draw_sweep, drawn, title, request, slopes)
    return Sheet(f"x_{key.replace('/', '_')}", draw, numbers)


def gap_sheets(groups: list[Group], gap: Gap, request: Request) -> list[Sheet]:
    """The paired difference against a key or two, or in rows and against the rounds."""
    key = request.x[0] if request.x else None
    lines = gap.lines(groups, request.column, key)
    names = f"{column_words(request.column)}\n{_difference(gap, request)}"
    final, title = f"gap in final {names}", _title(groups, lines, request)
    drawn = _apply_gap_styles(lines, gap, groups, request)
    numbers = tabulate([one.line for one in drawn], x=key or "x").rename(
        columns={"algorithm": "gap"}
    )
    if len(request.x) == 2:
        return [_heatmap_sheet(drawn, final, title, request)]
    if key:
        return [Sheet("gap", partial(draw_gap, drawn, final, title, request), numbers)]
    over_time = _apply_gap_styles(gap.curves(groups, request.column), gap, groups, request)
    table = tabulate([one.line for one in over_time], x="t").rename(columns={"algorithm": "gap"})
    rows = partial(draw_gap_rows, drawn, final, title, request)
    curve = partial(draw_gap_curves, over_time, f"gap in {names}", title, request)
    return [Sheet("gap", rows, numbers.drop(columns="x")), Sheet("gap_rounds", curve, table)]


def curve_axes(groups: list[Group], column: str, axis: Axes | None = None) -> Axes:
    """A column against the rounds, on the axes given or on those of a new figure of pyplot's."""
    from matplotlib import pyplot as plt

    lines = curves(groups, column)
    drawn = _apply_styles(lines, groups, Request())
    with rc_context(theme()):
        if axis is not None:
            draw_panel(axis, column_label(column), drawn, _marks(groups))
            axis.legend(frameon=False)
            return axis
        figure, axis = plt.subplots(figsize=NOTEBOOK_SIZE, layout="constrained")
        draw_panel(axis, column_label(column), drawn, _marks(groups))
        finish(figure, axis, [one.name for one in drawn], _title(groups, lines, Request()))
        return axis


def _curve_sheet(
    stem: str, found: dict[str, list[Line]], groups: list[Group], request: Request
) -> Sheet:
    panels = {column: _apply_styles(lines, groups, request) for column, lines in found.items()}
    tables = []
    for column, drawn in panels.items():
        table = tabulate([one.line for one in drawn], x="t")
        tables.append(table.assign(column=column) if len(panels) > 1 else table)
    title = _title(groups, [line for lines in found.values() for line in lines], request)
    draw = partial(draw_curves, panels, title, request, _marks(groups))
    return Sheet(stem, draw, pd.concat(tables, ignore_index=True))


def _rates_sheet(found: dict[str, list[Line]], groups: list[Group], request: Request) -> Sheet:
    """Regret per round on logarithmic axes, each with its slope from t = √T on."""
    panels: dict[str, list[Drawn]] = {}
    words: dict[int, list[str]] = {}
    tables = []
    for column, lines in found.items():
        drawn = _apply_styles(lines, groups, request)
        panels[column] = [one for one in drawn if one.line.algorithm not in REFERENCES]
        for place, one in enumerate(panels[column]):
            slope = curve_slope(one.line.by_seed)
            words.setdefault(place, []).append(shown_slope(slope))
            table = tabulate([one.line], x="t")
            tables.append(table.assign(column=column, slope=slope[0], slope_ci95=slope[1]))
    named = {
        column: [
            one._replace(name=f"{one.name}, slopes {' and '.join(words[place])}")
            for place, one in enumerate(drawn)
        ]
        for column, drawn in panels.items()
    }
    title = _title(groups, [one.line for drawn in panels.values() for one in drawn], request)
    draw = partial(draw_rates, named, title, request)
    return Sheet("rates", draw, pd.concat(tables, ignore_index=True))


def _bounds_sheet(groups: list[Group], request: Request) -> Sheet | None:
    """The regret that a theorem bounds, and the bound, which lies far above it."""
    panels: dict[str, list[Drawn]] = {}
    for column in RATES:
        bounded = [group for group in groups if bounded_regret(group) == column]
        bounds = _apply_styles(curves(bounded, "avg_bound"), groups, request)
        regrets = {(one.line.algorithm, str(one.line.varying)): one
                   for one in _apply_styles(curves(bounded, column), groups, request)}  # fmt: skip
        for one in bounds:
            style = one.style._replace(dashes="-", width=0.7, marker="")
            above = one._replace(style=style, name=f"{one.name}: the theorem's bound")
            below = regrets.get((one.line.algorithm, str(one.line.varying)))
            panels.setdefault(column, []).extend([above, below] if below else [above])
    if not panels:
        return None
    tables = [
        tabulate([one.line], x="t").assign(column=column, curve=one.name)
        for column, drawn in panels.items()
        for one in drawn
    ]
    title = _title(groups, [one.line for drawn in panels.values() for one in drawn], request)
    draw = partial(draw_rates, panels, title, request)
    return Sheet("bounds", draw, pd.concat(tables, ignore_index=True))


def _heatmap_sheet(drawn: list[Drawn], words: str, title: str, request: Request) -> Sheet:
    """A table for all lines that differ in nothing but the second key."""
    across, down = request.x
    if across == down:
        raise UserError(f"--x {across},{down}: a heatmap needs two keys")
    names = [one.style.name for one in drawn]
    if "algo" in request.x and len(set(names)) < len({one.line.algorithm for one in drawn}):
        raise UserError("--label: a heatmap of algorithms needs a name of its own for each")
    if down != "algo" and not any(down in one.line.varying for one in drawn):
        raise UserError(
            f"--x {across},{down}: all runs have one value of {down}; a heatmap needs two"
        )
    tables: dict[str, list[pd.DataFrame]] = {}
    for one in drawn:
        algorithm, varying = one.style.name, one.line.varying
        name = label("" if "algo" in request.x else algorithm, without(varying, down))
        below = algorithm if down == "algo" else varying.get(down)
        points = one.line.points.assign(down=below, panel=name)
        tables.setdefault(name, []).append(
            points.assign(x=algorithm) if across == "algo" else points
        )
    numbers = pd.concat([part for parts in tables.values() for part in parts], ignore_index=True)
    grids = {
        name: pd.concat(parts).pivot(index="down", columns="x", values="mean")
        .pipe(lambda table: table.loc[sorted(table.index, key=sort_key)])
        for name, parts in tables.items()
    }  # fmt: skip
    stem = f"{'gap' if request.gap else 'x'}_{across}_{down}".replace("/", "_")
    numbers = numbers.rename(columns={"x": across, "down": down})
    return Sheet(stem, partial(draw_heatmap, grids, words, title, request), numbers)


def _apply_styles(lines: list[Line], groups: list[Group], request: Request) -> list[Drawn]:
    return apply_styles(lines, line_styles([group.algorithm for group in groups], request.labels))


def _apply_gap_styles(
    lines: list[Line], gap: Gap, groups: list[Group], request: Request
) -> list[Drawn]:
    """The axis names two algorithms: a pair needs no name but for what tells it from others."""
    if gap.key != "algo":
        return _apply_styles(lines, groups, request)
    return apply_styles(lines, {line.algorithm: LineStyle("", INK) for line in lines})


def _difference(gap: Gap, request: Request) -> str:
    """PF-OGD − DF-OGD; γ = 1 minus γ = 0."""
    if gap.key == "algo":
        styles = line_styles([gap.first, gap.second], request.labels)
        return " − ".join(plain(styles[name].name) for name in (gap.first, gap.second))
    return f"{symbol(gap.key)} = {plain(gap.first)} minus {symbol(gap.key)} = {plain(gap.second)}"


def _marks(groups: list[Group]) -> list[int]:
    """The rounds in which an environment changes."""
    return sorted({mark for group in groups for mark in group.extras.get("marks", ())})


def _title(groups: list[Group], lines: list[Line], request: Request) -> str:
    """K, T and the number of seeds below the user's title; and what an experiment sets on purpose."""
    items = [group.settings["data.items"] for group in groups if "data.items" in group.settings]
    facts = [
        *([f"$K$ = {_span(items)}"] if items else []),
        f"$T$ = {_span(group.rounds for group in groups)}",
        *_unusual(groups),
        _seeds(lines),
    ]
    return request.titled(",  ".join(facts))


def _unusual(groups: list[Group]) -> list[str]:
    """Costs of another range than the default's decide what a figure shows, so it says them."""
    found = {(g.settings.get("data.amplitude"), g.settings.get("data.clip")) for g in groups}
    amplitude, clip = found.pop() if len(found) == 1 else (None, None)
    return [f"$A$ = {amplitude:g}, costs not clipped"] if amplitude and clip is False else []


def _seeds(lines: list[Line]) -> str:
    seeds = _span(count for line in lines for count in line.points["seeds"])
    return f"{seeds} seed" if seeds == "1" else f"{seeds} seeds"


def _span(numbers: Iterable[int]) -> str:
    values = sorted(set(numbers))
    return str(values[0]) if len(values) == 1 else f"{values[0]}–{values[-1]}"
