"""The figures of a request, each with a file name, its numbers and its title."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from odfl_cli.core.errors import UserError
from odfl_cli.core.text import tell
from odfl_cli.plotting.canvas import finish
from odfl_cli.plotting.curves import Panel, draw_curves, draw_panel, draw_rates, format_slope
from odfl_cli.plotting.figure_files import Sheet
from odfl_cli.plotting.forest import MOST_PANELS, Row, draw_rows, forest_sheet
from odfl_cli.plotting.points import draw_heatmap, draw_points
from odfl_cli.plotting.request import BY_DEFAULT, CURVES, RATES, Request
from odfl_cli.plotting.style import INK, Drawn, LineStyle, apply_styles, line_styles, theme
from odfl_cli.results.aggregation import Line, curves, late_slope, slope, sweep, tabulate
from odfl_cli.results.gaps import Gap
from odfl_cli.results.grouping import (
    TARGET,
    Group,
    Settings,
    check_column,
    check_key,
    check_swept,
    freeze,
    group_runs,
    sort_key,
    split_settings,
    without,
)
from odfl_cli.results.leaderboard import deciding_column
from odfl_cli.results.tables import Run
from odfl_cli.results.words import (
    REFERENCES,
    column_label,
    column_words,
    escape,
    label,
    shorten_value,
    symbol,
)

MOST_ACROSS = 4
GONE = {
    "bounds": "this figure is gone; --y avg_bound,avg_dynamic_regret draws both",
    "oracle_share": "this figure is gone; odfl report shows the share",
}
NOTEBOOK_SIZE = 6.9, 2.86  # inches, without the legend


def sheets(runs: list[Run], request: Request) -> list[Sheet]:
    """The figures of runs that belong together; differing keys are those of the runs shown."""
    runs = request.gap.runs(runs) if request.gap else runs
    for key in request.x:
        check_swept(runs, key)
        for name in sorted({run.algorithm for run in runs if key not in run.settings}):
            if not request.gap:
                tell(f"--x: left out runs of {name} that have no key {key}")
        runs = [run for run in runs if request.gap or key in run.settings]
    for option, key in zip(("--row", "--col"), request.facets, strict=True):
        if key:
            check_key(runs, key, option)
    plot = Plot(group_runs(runs), request)
    if request.gap:
        return _gap_sheets(plot, request.gap)
    if request.forest is not None:
        return [_forest(plot, runs)]
    if request.x:
        return [_sweep_sheet(plot)]
    if request.y or any(request.facets):
        columns = request.y or (request.column,)
        for column in columns:
            check_column(plot.groups, column, "--y")
        return [plot.curve_sheet("_".join(columns), columns)]
    return _default_sheets(plot, runs)


def sections_sheet(sections: Mapping[str, list[Run]], request: Request) -> Sheet:
    """One figure of a column, a panel for each section."""
    groups = {name: group_runs(runs) for name, runs in sections.items()}
    every = Plot(list(chain(*groups.values())), request)
    for several in groups.values():
        check_column(several, request.column, "--y")
    lines = [curves(several, request.column) for several in groups.values()]
    panels = [
        Panel(column_label(request.column), drawn, name).add_facts({"sweep": name})
        for name, drawn in zip(groups, every.share_styles(lines), strict=True)
        if drawn
    ]
    return every.sheet("panels", draw_curves, panels)


def curve_axes(groups: list[Group], column: str, axis: Axes | None = None) -> Axes:
    """A column against the rounds, on the given axes or on those of a new pyplot figure."""
    from matplotlib import pyplot as plt

    plot = Plot(groups, Request())
    panel = Panel(column_label(column), plot.style(curves(groups, column)), marks=plot.marks)
    with rc_context(theme()):
        if axis is not None:
            draw_panel(axis, panel)
            axis.legend(frameon=False)
            return axis
        figure, axis = plt.subplots(figsize=NOTEBOOK_SIZE, layout="constrained")
        draw_panel(axis, panel)
        handles, names = axis.get_legend_handles_labels()
        title = plot.title(tabulate([one.line for one in panel.drawn], "t"))
        finish(figure, dict(zip(names, handles, strict=True)), title)
        return axis


@dataclass(frozen=True)
class Plot:
    """The groups of runs in figures, and the style of the figures."""

    groups: list[Group]
    request: Request

    def style(self, lines: list[Line]) -> list[Drawn]:
        """The lines with their styles and names, in the order of the legend."""
        return apply_styles(
            lines, line_styles([group.algorithm for group in self.groups], self.request.labels)
        )

    def share_styles(self, panels: Iterable[list[Line]]) -> list[list[Drawn]]:
        """The lines of every panel, with one style for the same settings in all panels."""
        there = [list(map(id, lines)) for lines in panels]
        drawn = self.style(list(chain(*panels)))
        return [[one for one in drawn if id(one.line) in ids] for ids in there]

    def title(self, numbers: pd.DataFrame | None = None) -> str:
        """K, T and the number of seeds below the user's title, and an unusual range of costs."""
        settings = [group.settings for group in self.groups]
        items = [one["data.items"] for one in settings if "data.items" in one]
        ranges = {(one.get("data.amplitude"), one.get("data.clip")) for one in settings}
        amplitude, clip = ranges.pop() if len(ranges) == 1 else (None, None)
        counts = (
            [len(group.seeds) for group in self.groups] if numbers is None else numbers["seeds"]
        )
        seeds = _format_range(counts)
        facts = [
            f"$K$ = {_format_range(items)}" if items else "",
            f"$T$ = {_format_range(group.rounds for group in self.groups)}",
            f"$A$ = {amplitude:g}, costs not clipped" if amplitude and clip is False else "",
            f"{seeds} seed" if seeds == "1" else f"{seeds} seeds",
        ]
        return self.request.add_title(",  ".join(filter(None, facts)))

    @property
    def swept(self) -> tuple[str, set[Any]]:
        """The only key of the problem swept over numbers and its values; empty otherwise."""
        outer = [split_settings(group.varying)[0] for group in self.groups]
        keys = {key for settings in outer for key in settings}
        key = keys.pop() if len(keys) == 1 else ""
        values = {freeze(settings.get(key)) for settings in outer}
        is_grid = key and all(sort_key(value)[0] == 0 for value in values)
        return (key, values) if is_grid else ("", set())

    @property
    def across(self) -> int:
        """The number of facets in a row; 0 without facets."""
        _, column = self.request.facets
        if not any(self.request.facets) or self.request.stacked:
            return int(any(self.request.facets))
        values = {freeze(group.settings.get(column)) for group in self.groups} if column else {0}
        return min(len(values), MOST_ACROSS)

    def facets(self, column: str) -> list[tuple[Settings, list[Group]]]:
        """The groups of every facet with the settings that name it, row after row.

        The MSE of ranks and that of raw costs have different units and different panels.
        """
        keys = [key for key in self.request.facets if key]
        targets = {group.settings.get(TARGET, "raw") for group in self.groups}
        if column.removeprefix("avg_") == "mse" and len(targets) > 1 and TARGET not in keys:
            keys.append(TARGET)
        pools: dict[Any, tuple[Settings, list[Group]]] = {}
        for group in self.groups:
            named = {key: group.settings.get(key, "raw" if key == TARGET else None) for key in keys}
            pool = pools.setdefault(freeze(named), (named, []))[1]
            pool.append(replace(group, varying=without(group.varying, *keys)))
        return sorted(pools.values(), key=lambda one: [sort_key(v) for v in one[0].values()])

    @property
    def marks(self) -> list[int]:
        """The rounds in which the environment changes."""
        return sorted({mark for group in self.groups for mark in group.extras.get("marks", ())})

    def panels(
        self,
        columns: Iterable[str],
        lines_of: Callable[[list[Group], str], list[Line]],
        final: bool = False,
    ) -> list[Panel]:
        """A panel for every column and facet; errors of predictions with other targets are separate."""
        several = len(list(columns)) > 1
        panels = []
        for column in columns:
            facets = [(named, lines_of(groups, column)) for named, groups in self.facets(column)]
            shares = self.share_styles([lines for _, lines in facets])
            for (named, _), drawn in zip(facets, shares, strict=True):
                panel = Panel(
                    column_label(column, final), drawn,
                    label("", named), across=self.across, marks=self.marks,
                )  # fmt: skip
                panels.append(panel.add_facts({"column": column, **named} if several else named))
        return [panel for panel in panels if panel.drawn]

    def sheet(
        self, stem: str, draw: Callable[..., Figure], panels: list[Panel], x: str = "t"
    ) -> Sheet:
        """A figure of panels; its numbers are those of their lines."""
        lines = [one.line for panel in panels for one in panel.drawn]
        if not lines:
            raise UserError(f"{stem}: no run has what this figure shows")
        numbers = tabulate(lines, x)
        return Sheet(stem, partial(draw, panels, self.title(numbers), self.request), numbers)

    def curve_sheet(self, stem: str, columns: Iterable[str]) -> Sheet:
        """Columns against the rounds."""
        return self.sheet(stem, draw_curves, self.panels(columns, curves))


def _default_sheets(plot: Plot, runs: list[Run]) -> list[Sheet]:
    """The requested figures, or all figures whose columns the runs have."""
    have = {column for group in plot.groups for column in group.columns}
    key, values = plot.swept
    facets = replace(plot.request, facets=("", key)) if len(values) <= MOST_ACROSS else plot.request
    builders: dict[str, Callable[[], Sheet]] = {
        stem: partial(replace(plot, request=facets).curve_sheet, stem, columns)
        for stem, columns in CURVES.items()
        if have.issuperset(columns)
    }
    if len(values) > MOST_ACROSS:
        points = replace(plot.request, x=(key,), y=CURVES["overview"])
        builders["overview"] = partial(_sweep_sheet, replace(plot, request=points))
    if have.issuperset(RATES):
        builders["rates"] = partial(_rates_sheet, plot)
    learners = {run.algorithm for run in runs} - set(REFERENCES)
    problems = {freeze(split_settings(group.varying)[0]) for group in plot.groups}
    if len(learners) > 1 and len(problems) <= MOST_PANELS:
        builders["forest"] = partial(_forest, plot, runs)
    for stem in plot.request.figures:
        if stem not in builders:
            there = f"the runs do not have it; there are {', '.join(builders)}"
            raise UserError(f"--figures {stem}: {GONE.get(stem, there)}")
    wanted = plot.request.figures or BY_DEFAULT
    return [build() for stem, build in builders.items() if stem in wanted]


def _forest(plot: Plot, runs: list[Run]) -> Sheet:
    column = plot.request.y[0] if plot.request.y else deciding_column(runs)
    return forest_sheet(runs, column, plot.title(), plot.request)


def _add_slopes(
    panels: list[Panel], slope_of: Callable[[pd.DataFrame], tuple[float, float]]
) -> list[Panel]:
    """The panels with the slopes of their lines on logarithmic axes in the legend and the numbers."""
    found: dict[str, list[str]] = {}

    def measure(one: Drawn) -> Drawn:
        value, ci95 = slope_of(one.line.by_seed)
        found.setdefault(one.name, []).append(format_slope((value, ci95)))
        return one.add_facts({"slope": value, "slope_ci95": ci95})

    def name(one: Drawn) -> Drawn:
        plural = "s" if len(found[one.name]) > 1 else ""
        return one._replace(name=f"{one.name}, slope{plural} {' and '.join(found[one.name])}")

    measured = [panel._replace(drawn=list(map(measure, panel.drawn))) for panel in panels]
    return [panel._replace(drawn=list(map(name, panel.drawn))) for panel in measured]


def _rates_sheet(plot: Plot) -> Sheet:
    """Regret per round on logarithmic axes, each with its slope from t = √T on."""
    learners = [group for group in plot.groups if group.algorithm not in REFERENCES]
    panels = replace(plot, groups=learners).panels(RATES, curves)
    return plot.sheet("rates", draw_rates, _add_slopes(panels, late_slope))


def _sweep_sheet(plot: Plot) -> Sheet:
    """The final value of the column against one key or two; on logarithmic axes with its slope."""
    request, key, column = plot.request, plot.request.x[0], plot.request.column
    if len(request.x) == 2:
        drawn = plot.style(sweep(plot.groups, key, column))
        return _heatmap_sheet(plot, drawn, column_label(column, final=True))
    columns = request.y or (column,)
    panels = plot.panels(columns, lambda groups, one: sweep(groups, key, one), final=True)
    if request.loglog:
        values = [x for panel in panels for one in panel.drawn for x in one.line.points["x"]]
        if wrong := [x for x in values if sort_key(x)[0] or x <= 0]:
            smallest = min(wrong, key=sort_key)
            raise UserError(
                f"{key}={shorten_value(smallest)}: on logarithmic axes it should be above 0"
            )
        panels = _add_slopes(panels, slope)
    return plot.sheet(f"x_{key.replace('/', '_')}", draw_points, panels, x=key)


def _gap_sheets(plot: Plot, gap: Gap) -> list[Sheet]:
    """The paired difference against a key or two, or in rows and against the rounds."""
    request, column = plot.request, plot.request.column
    key = request.x[0] if request.x else None
    words = f"{column_words(column)}\n{_difference(gap, request)}"
    drawn = _style_gaps(plot, gap, gap.lines(plot.groups, column, key))
    if len(request.x) == 2:
        return [_heatmap_sheet(plot, drawn, f"gap in final {words}")]
    points = Panel(f"gap in final {words}", drawn, is_gap=True)
    found = [plot.sheet("gap", draw_points, [points], x=key or "x")]
    if not key:
        rows = [
            Row(
                one.name,
                one.style._replace(colour=INK) if gap.key == "algo" else one.style,
                *one.line.points[["mean", "ci95"]].to_numpy()[0],
            )
            for one in drawn
        ]
        numbers = found[0].numbers.drop(columns="x")
        draw = partial(draw_rows, {"": rows}, points.label, plot.title(numbers), request)
        over_time = _style_gaps(plot, gap, gap.curves(plot.groups, column))
        panel = Panel(f"gap in {words}", over_time, is_gap=True)
        found = [Sheet("gap", draw, numbers), plot.sheet("gap_rounds", draw_curves, [panel])]
    return [
        sheet._replace(numbers=sheet.numbers.rename(columns={"algorithm": "gap"}))
        for sheet in found
    ]


def _heatmap_sheet(plot: Plot, drawn: list[Drawn], words: str) -> Sheet:
    """A table for all lines that differ only in the second key."""
    across, down = plot.request.x
    if across == down:
        raise UserError(f"--x {across},{down}: a heatmap needs two keys")
    names = {one.line.algorithm: one.style.name for one in drawn}
    if "algo" in (across, down) and len(set(names.values())) < len(names):
        raise UserError("--label: two algorithms of the heatmap have the same name")
    if down != "algo" and not any(down in one.line.varying for one in drawn):
        raise UserError(f"--x {across},{down}: all runs have one value of {down}; it needs two")
    parts = []
    for one in drawn:
        varying = {"algo": one.style.name, **one.line.varying}
        name = "" if "algo" in (across, down) else one.style.name
        panel = label(name, without(one.line.varying, down))
        part = one.line.points.assign(down=varying.get(down), panel=panel)
        parts.append(part.assign(x=one.style.name) if across == "algo" else part)
    numbers = pd.concat(parts, ignore_index=True)
    tables = {
        str(panel): table.pivot(index="down", columns="x", values="mean")
        .sort_index(key=lambda index: index.map(sort_key))
        for panel, table in numbers.groupby("panel", sort=False)
    }  # fmt: skip
    stem = f"{'gap' if plot.request.gap else 'x'}_{across}_{down}".replace("/", "_")
    draw = partial(draw_heatmap, tables, words, plot.title(numbers), plot.request)
    return Sheet(stem, draw, numbers.rename(columns={"x": across, "down": down}))


def _style_gaps(plot: Plot, gap: Gap, lines: list[Line]) -> list[Drawn]:
    """Names gaps of two algorithms, which the axis names, by the settings that distinguish the pairs."""
    plain = {line.algorithm: LineStyle("", INK) for line in lines}
    return plot.style(lines) if gap.key != "algo" else apply_styles(lines, plain)


def _difference(gap: Gap, request: Request) -> str:
    """PF-OGD − DF-OGD; γ = 1 minus γ = 0."""
    if gap.key == "algo":
        styles = line_styles([gap.first, gap.second], request.labels)
        return " − ".join(escape(styles[name].name) for name in (gap.first, gap.second))
    return " minus ".join(f"{symbol(gap.key)} = {escape(v)}" for v in (gap.first, gap.second))


def _format_range(numbers: Iterable[int]) -> str:
    values = sorted(set(numbers))
    return str(values[0]) if len(values) == 1 else f"{values[0]}–{values[-1]}"
